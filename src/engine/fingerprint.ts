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
  // In one call, since a Hash is an object that the collector of garbage has to end; by way of text, since a Buffer that it
  // makes has memory of its own: 0.6 µs of 1.5.
  return Buffer.from(hash('sha256', text, 'binary'), 'binary');
}
