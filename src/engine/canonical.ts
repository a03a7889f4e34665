/** The fingerprint of a request: it must not depend on key order, white space or `1` vs `1.0`. */
import { createHash } from 'node:crypto';
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
  return createHash('sha256').update(canonicalJson({ method, path, params, query, body })).digest();
}
