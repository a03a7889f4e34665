/** From an HTTP request to a call of the corridor: headers, body and what is wrong with their form. */
import type { FastifyRequest } from 'fastify';
import type { Call } from '../../engine/execute.ts';
import { parseStrictJson } from '../../engine/strict-json.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { credentialOf, entryOfKey } from '../../identity/principal.ts';
import type { Operation } from '../../operations/operation.ts';

/** Bytes of a body that are read before the database has said who sends it: that spares others a round trip. */
const longest_unknown = 64 * 1024;
const printable = /^[\x21-\x7e]{1,128}$/;

/** The caller's X-Request-Id when it is printable and short, else a new one. */
export function requestIdOf(header: string | string[] | undefined, newId: () => string): string {
  return typeof header === 'string' && printable.test(header) ? header : newId();
}

/** Throws UNAUTHENTICATED or AMBIGUOUS_CREDENTIALS; what is wrong with the form is left to the corridor. */
export function callOf(operation: Operation, request: FastifyRequest, gone: AbortSignal): Call {
  const apiKey = request.headers['x-api-key'];
  const credential = credentialOf({
    apiKey: apiKey === undefined ? undefined : String(apiKey),
    authorization: request.headers.authorization,
  });
  const key = request.headers['idempotency-key'];
  let form: Form | undefined;
  const read = (): Form => (form ??= formOf(operation, request));
  return {
    operation,
    params: { ...(request.params as Record<string, unknown>) },
    query: { ...(request.query as Record<string, unknown>) },
    get body() {
      return read().body;
    },
    get malformed() {
      return read().malformed;
    },
    isLong: Buffer.isBuffer(request.body) && request.body.length > longest_unknown,
    idempotencyKey: operation.kind === 'write' && key !== undefined ? String(key) : undefined,
    requestId: request.id,
    rateSubject: credential.subject,
    entry: (accept) => entryOfKey(credential, accept),
    gone,
  };
}

type Form = Pick<Call, 'body' | 'malformed'>;

/** Step 7: content type, JSON syntax, idempotency key, in this order. */
function formOf(operation: Operation, request: FastifyRequest): Form {
  if (operation.kind === 'read') return { body: {}, malformed: undefined };
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  let body: unknown = {};
  let malformed: Refusal | undefined;
  try {
    if (bytes.length > 0 && !isJson(request.headers['content-type'])) throw new Refusal('UNSUPPORTED_MEDIA_TYPE');
    if (request.headers['content-encoding'] !== undefined) throw new Refusal('UNSUPPORTED_MEDIA_TYPE');
    body = parseStrictJson(bytes);
    const key = request.headers['idempotency-key'];
    if (key !== undefined && !printable.test(String(key))) throw new Refusal('IDEMPOTENCY_KEY_INVALID');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    malformed = error;
  }
  return { body, malformed };
}

function isJson(contentType: string | undefined): boolean {
  return (
    contentType !== undefined && /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?$/i.test(contentType.trim())
  );
}
