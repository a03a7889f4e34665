/**
 * What every answer of an operation has to keep, whichever test asked: its body follows the declared schema to the
 * letter, its status stands in the description, and a refusal is one that was declared. The client of test/service.ts
 * judges each answer by this.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import { decimalsOf } from '../src/fiscal/decimal.ts';
import { isCountry, isCurrency } from '../src/fiscal/identifiers.ts';
import type { RefusalCode } from '../src/fiscal/refusal.ts';
import { isDayOrInstant, isInstant } from '../src/fiscal/time.ts';
import { operations } from '../src/operations/all.ts';
import type { Operation } from '../src/operations/operation.ts';
import type { Answer, Refused } from './client.ts';

/** Refusals that any operation may answer: the steps of the corridor before its own rules. */
const corridorCodes: ReadonlySet<string> = new Set<RefusalCode>([
  'BAD_HTTP',
  'HEADERS_TOO_LARGE',
  'URI_TOO_LONG',
  'BODY_TOO_LARGE',
  'REQUEST_TIMEOUT',
  'EXPECTATION_FAILED',
  'METHOD_NOT_ALLOWED',
  'UNAUTHENTICATED',
  'AMBIGUOUS_CREDENTIALS',
  'RATE_LIMITED',
  'FORBIDDEN',
  'UNSUPPORTED_MEDIA_TYPE',
  'MALFORMED_JSON',
  'IDEMPOTENCY_KEY_INVALID',
  'IDEMPOTENCY_KEY_REUSED',
  'IDEMPOTENCY_CONFLICT',
  'INVALID_REQUEST',
  'UNAVAILABLE',
  'OUTCOME_UNKNOWN',
]);

const ajv = new Ajv({ allErrors: true, strict: true, ownProperties: true });
ajv.addKeyword({
  keyword: 'decimals',
  type: 'number',
  schemaType: 'number',
  validate: (most: number, value: number) => decimalsOf(value) <= most,
});
ajv.addKeyword({
  keyword: 'filled',
  type: 'string',
  schemaType: 'number',
  validate: (least: number, text: string) => text.trim().length >= least,
});
for (const [name, validate] of Object.entries({
  uuid: (text: string) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text),
  line: (text: string) => !/[\n\r\t]/.test(text),
  day: isDayOrInstant,
  instant: isInstant,
  'date-time': isInstant,
  country: isCountry,
  currency: isCurrency,
})) {
  ajv.addFormat(name, { type: 'string', validate });
}
const compiled = new Map<string, ValidateFunction>();

/** The operation that a request reaches, by method and path. */
export function operationOf(method: string, path: string): Operation | undefined {
  const [address] = path.split('?') as [string];
  const exact = operations.filter((operation) => operation.path === address);
  if (exact.length > 0) return exact.find((operation) => operation.method === method);
  const asked = address.split('/');
  return operations.find((operation) => {
    const template = operation.path.split('/');
    return (
      operation.method === method &&
      template.length === asked.length &&
      template.every((part, i) => part.startsWith(':') || part === asked[i])
    );
  });
}

/** Fields that mean the same of every answer on the web, or concern the connection alone: nobody describes them. */
const ofTheWeb: ReadonlySet<string> = new Set([
  'allow',
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'x-content-type-options',
]);

/** Throws when the answer breaks what its operation declares. `documented`: header fields by status in the description. */
export function conforms(
  operation: Operation,
  answer: Answer,
  documented: ReadonlyMap<number, ReadonlySet<string>>,
): void {
  const told = `${operation.method} ${operation.path} answered ${answer.status}`;
  if (answer.headers['x-request-id'] === undefined) throw new Error(`${told} without X-Request-Id`);
  const fields = documented.get(answer.status);
  const strange = Object.keys(answer.headers).filter((name) => !ofTheWeb.has(name) && fields?.has(name) !== true);
  if (fields !== undefined && strange.length > 0) throw new Error(`${told} with ${strange}, which it does not declare`);
  if (answer.status < 300) {
    if (answer.status !== operation.reply[0]) throw new Error(`${told}, declared is ${operation.reply[0]}`);
    if (operation.media !== undefined) {
      const { 'content-type': type, 'content-length': length, 'content-disposition': disposition } = answer.headers;
      if (type !== operation.media) throw new Error(`${told} ${type}, declared is ${operation.media}`);
      if (Number(length) !== answer.bytes.length) throw new Error(`${told} not as many bytes as it says`);
      if (!/^attachment; filename="[\w.-]+"$/.test(String(disposition))) throw new Error(`${told} as no attachment`);
      return;
    }
    const check = compiled.get(operation.name) ?? ajv.compile(operation.reply[1]);
    compiled.set(operation.name, check);
    if (!check(answer.json))
      throw new Error(`${told} not as declared: ${ajv.errorsText(check.errors)}\n${answer.text}`);
    return;
  }
  const { code, status } = answer.json as Refused;
  if (status !== answer.status) throw new Error(`${told} with a body that says ${status}`);
  if (!corridorCodes.has(code) && !(operation.refuses as readonly string[]).includes(code))
    throw new Error(`${told} ${code}, which it does not declare`);
  if (fields === undefined && status !== 405)
    throw new Error(`${told} ${code}, a status that the description does not have`);
}
