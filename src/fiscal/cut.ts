/** Texts that are cut, in this one place: between characters (code points), never through a surrogate pair. */

/** At most `longest` characters, counted as XML schemas and PostgreSQL count them: code points. */
export function cut(text: string, longest: number): string {
  // No text has more code points than units; most are short and returned as they are.
  if (text.length <= longest) return text;
  let end = 0;
  for (let points = 0; points < longest && end < text.length; points++) end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

/** Whether nothing of it would be cut. */
export function fits(text: string, longest: number): boolean {
  return cut(text, longest).length === text.length;
}

/** Cut for people to read: what is left out is told by an ellipsis behind the `longest` characters. */
export function shortened(text: string, longest: number): string {
  const kept = cut(text, longest);
  return kept.length === text.length ? text : `${kept}…`;
}
