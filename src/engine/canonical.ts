/** The fingerprint of a request: it must not depend on key order, white space or `1` vs `1.0`. */
import { hash } from 'node:crypto';
import { canonicalJson } from '../fiscal/canonical.ts';

/** SHA-256 of what makes a request the same request: method, route template, path parameters, query and parsed body. */
export function fingerprint(request: {
  readonly method: string;
  readonly path: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}): Buffer {
  const { method, path, params, query, body } = request;
  // As canonical JSON of all five, whose names need not be sorted each time.
  const text = `{"body":${canonicalJson(body)},"method":${canonicalJson(method)},"params":${canonicalJson(params)},"path":${canonicalJson(path)},"query":${canonicalJson(query)}}`;
  // At once: a Hash is an object that the collector of garbage has to end, which takes as long as the hashing.
  return hash('sha256', text, 'buffer');
}
