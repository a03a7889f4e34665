/** The elements of a cleaned SVG (logo-svg.ts): a small language without text, entities and references to elsewhere. */

export interface Node {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly Node[];
}

const token = /<\/[\w:-]+>|<([\w:-]+)((?:\s+[\w:-]+="[^"]*")*)(\/?)>/g;
const attribute = /([\w:-]+)="([^"]*)"/g;

/** The root element. */
export function treeOf(text: string): Node {
  const root: { name: string; attributes: Map<string, string>; children: Node[] } = {
    name: '',
    attributes: new Map(),
    children: [],
  };
  const open = [root];
  for (const [, name, given = '', closed] of text.matchAll(token)) {
    if (name === undefined) {
      open.pop();
      continue;
    }
    const attributes = new Map(Array.from(given.matchAll(attribute), ([, key = '', value = '']) => [key, value]));
    const node = { name, attributes, children: [] };
    open.at(-1)!.children.push(node);
    if (closed === '') open.push(node);
  }
  return root.children[0]!;
}

/** All elements with an id, by it; of two the first. */
export function namedIn(root: Node): ReadonlyMap<string, Node> {
  const all = new Map<string, Node>();
  const visit = (node: Node) => {
    const id = node.attributes.get('id');
    if (id !== undefined && !all.has(id)) all.set(id, node);
    for (const child of node.children) visit(child);
  };
  visit(root);
  return all;
}

/** What `url(#name)` names. */
export function referred(value: string | undefined, named: ReadonlyMap<string, Node>): Node | undefined {
  const id = value === undefined ? undefined : /^url\(\s*#([\w-]+)\s*\)$/.exec(value)?.[1];
  return id === undefined ? undefined : named.get(id);
}
