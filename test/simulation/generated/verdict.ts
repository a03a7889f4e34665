/** What an answer has to keep, by the description and by what the request was. */
import type { Answer } from '../../client.ts';
import type { Made } from './requests.ts';

/** Codes that say that a request does not follow the schema. */
const schemaCodes = new Set([
  'UNKNOWN_FIELD',
  'UNKNOWN_PARAMETER',
  'DUPLICATE_FIELD',
  'INVALID_TYPE',
  'INVALID_VALUE',
  'INVALID_FORMAT',
  'INVALID_ID',
  'TOO_LONG',
  'TOO_SHORT',
  'TOO_MANY',
  'TOO_FEW',
  'TOO_SMALL',
  'TOO_LARGE',
  'TOO_MANY_DECIMALS',
  'NUMBER_NOT_EXACT',
  'INVALID_CHARACTER',
  'OVERLOADED_TEXT',
  'LINE_BREAK',
  'MALFORMED_JSON',
]);

/** The contract's limit of a body. */
const largest_body_bytes = 1024 * 1024;

/** Sentences on what is wrong; empty: nothing. */
export function judge(made: Made, answer: Answer): string[] {
  const { operation, kind } = made;
  const { status, headers, json } = answer;
  const faults: string[] = [];
  if (status >= 500) faults.push(`answered ${status}`);
  if (headers['x-request-id'] === undefined) faults.push('has no X-Request-Id');
  // What no operation was asked for is described by none.
  const elsewhere = made.method !== operation.method;
  if (!elsewhere) faults.push(...undeclared(made, answer));
  if (elsewhere && made.method !== 'HEAD' && status < 400 && made.headers['x-api-key'] === undefined)
    faults.push(`answered ${status} to another method`);
  if (authenticated(answer, made) && (headers['ratelimit'] === undefined || headers['ratelimit-policy'] === undefined))
    faults.push('has no RateLimit');
  // A list that breaks its limit may break the body's too, which comes first.
  const wanted = Buffer.byteLength(made.body ?? '') > largest_body_bytes ? 413 : 400;
  if (kind === 'broken' && status !== wanted) faults.push(`answered ${status} although it does not follow the schema`);
  if (kind === 'broken' && status === 400 && (json as { code?: string }).code !== 'INVALID_REQUEST')
    faults.push(`answered ${json.code} although it does not follow the schema`);
  if (kind === 'valid' && status === 400) {
    const told = (json.errors ?? []).filter((one) => schemaCodes.has(one.code) && !isOfBothNames(made, one));
    if (told.length > 0 || schemaCodes.has(json.code))
      faults.push(`was refused although it follows the schema: ${JSON.stringify(told)}`);
  }
  if (kind === 'valid' && status === 403) faults.push('answered 403');
  return [...faults, ...strangers(made, answer)];
}

/** A customer without a name of its own shows first and last name, which together may be too long where neither is. */
function isOfBothNames({ body }: Made, { code, pointer }: { code: string; pointer: string }): boolean {
  return code === 'TOO_LONG' && pointer === '/name' && !JSON.parse(body ?? '{}').name;
}

function undeclared({ operation }: Made, { status, headers, json, text }: Answer): string[] {
  const declared = operation.answers.get(status);
  if (declared === undefined) return [`answered ${status}, which is not declared`];
  const media = String(headers['content-type']).replace(/; charset=utf-8$/, '');
  if (media !== declared.media) return [`answered ${status} as ${media}, declared is ${declared.media}`];
  if (declared.check === undefined || declared.check(json)) return [];
  const problems = declared.check.errors?.slice(0, 3).map(({ instancePath, message }) => `${instancePath} ${message}`);
  return [`answered ${status} not as declared: ${problems?.join('; ')} in ${text.slice(0, 300)}`];
}

/** Whether the caller was let in before the answer was decided. */
function authenticated({ status, json }: Answer, { method }: Made): boolean {
  if (method === 'HEAD' || status === 401) return false;
  const before = [
    'BAD_HTTP',
    'URI_TOO_LONG',
    'HEADERS_TOO_LARGE',
    'BODY_TOO_LARGE',
    'AMBIGUOUS_CREDENTIALS',
    'ROUTE_NOT_FOUND',
    'METHOD_NOT_ALLOWED',
    'EXPECTATION_FAILED',
  ];
  return status < 400 || !before.includes((json as { code?: string } | undefined)?.code ?? '');
}

/** An id of another company is an id of nobody. */
function strangers({ foreign, operation }: Made, { status, json }: Answer): string[] {
  if (foreign === 'path' && status !== 404 && status !== 400)
    return [`answered ${status} to the id of another company`];
  if (foreign === 'body' && status < 300) return ['took the id of another company'];
  if (foreign === 'query' && status < 300 && Array.isArray(json) && json.length > 0)
    return [`found ${operation.collection} by the id of another company`];
  return [];
}
