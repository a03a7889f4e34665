/** Canonical JSON (RFC 8785): the fingerprint of a request must not depend on key order, white space or `1` vs `1.0`. */
import { createHash } from 'node:crypto';

/** Canonical text of a JSON value. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** SHA-256 of what makes a request the same request: method, route template, path parameters, query and parsed body. */
export function fingerprint(request: {
  readonly method: string;
  readonly path: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}): Buffer {
  const { method, path, params, query, body } = request;
  return createHash('sha256').update(canonicalJson({ method, path, params, query, body })).digest();
}
