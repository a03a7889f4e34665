/**
 * Canonical JSON (RFC 8785): one text for a value, whatever its key order, white space, or `1` written `1.0`. Written out,
 * since each numbered document goes through here: with entries, filter and map it took four times as long.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) {
    let text = '[';
    for (let at = 0; at < value.length; at += 1) text += (at === 0 ? '' : ',') + canonicalJson(value[at]);
    return `${text}]`;
  }
  const members = value as Record<string, unknown>;
  let text = '{';
  for (const name of inOrder(Object.keys(members))) {
    const member = members[name];
    if (member !== undefined) text += `${text.length === 1 ? '' : ','}${quoted(name)}:${canonicalJson(member)}`;
  }
  return `${text}}`;
}

/** Beyond it, inserting takes longer than sorting: with the square of the names, which come from outside. */
const most_inserted = 48;

/** By UTF-16 units, the order of the RFC, in place: `sort` makes copies of names, which for a few takes the longest. */
function inOrder(names: string[]): string[] {
  if (names.length > most_inserted) return names.sort();
  for (let from = 1; from < names.length; from += 1) {
    const name = names[from]!;
    let at = from;
    for (; at > 0 && names[at - 1]! > name; at -= 1) names[at] = names[at - 1]!;
    names[at] = name;
  }
  return names;
}

/** A text as JSON has it, within quotation marks. Most have nothing to escape: looking is quicker than asking. */
const quoted = (text: string): string => (isPlain(text) ? `"${text}"` : JSON.stringify(text));

/** The same without the marks. */
export const inQuotes = (text: string): string => (isPlain(text) ? text : JSON.stringify(text).slice(1, -1));

const longest_looked_at = 64;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them.
const escaped = /["\\\x00-\x1f\ud800-\udfff]/;

function isPlain(text: string): boolean {
  if (text.length > longest_looked_at) return !escaped.test(text);
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || unit >= 0xd800) return false;
  }
  return true;
}
