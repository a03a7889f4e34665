/** Parts of the bench are plain JavaScript: without types here. */
// biome-ignore lint/suspicious/noExplicitAny: what a part exports is known to the part alone
export function part(name: string): Promise<any> {
  return import(new URL(`../../bench/parts/${name}.mjs`, import.meta.url).href);
}
