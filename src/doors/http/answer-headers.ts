/** The header fields of answers, as the description tells them. */
import type { Operation } from '../../operations/operation.ts';

interface Field {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer'; readonly [word: string]: unknown };
}

/** Components of the description, by their names there; `required` would say that each answer has it. */
export const answerHeaders: Readonly<Record<string, Field>> = {
  'X-Request-Id': {
    description:
      'Names this request in the log: what you sent as X-Request-Id, when it is at most 128 printable ASCII characters (spaces among them), else ours.',
    schema: { type: 'string', maxLength: 128 },
  },
  'RateLimit-Policy': {
    description: 'How many requests the credential has (q) in so many seconds (w). Not before it is known who asks.',
    schema: { type: 'string', example: '"credential";q=6000;w=60' },
  },
  RateLimit: {
    description: 'How many of them are left (r), and after how many seconds there are new ones (t).',
    schema: { type: 'string', example: '"credential";r=5999;t=42' },
  },
  'Idempotent-Replayed': {
    description: 'This is the recorded answer: the idempotency key was used for this request before.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': {
    description: 'Seconds after which the same request may be sent again. At 409 only while the first is in progress.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    schema: { type: 'string', example: 'ApiKey realm="certo", header="x-api-key"' },
  },
  'Content-Disposition': {
    description: 'The name of the file.',
    schema: { type: 'string' },
  },
};

/** Statuses of answers that are given before it is known who asks. */
const ofNobody: ReadonlySet<number> = new Set([401, 408, 414, 417, 431]);

/** Names of the fields that an operation's answer of this status may have. */
export function headersOf({ kind, media }: Pick<Operation, 'kind' | 'media'>, status: number): readonly string[] {
  const isDone = status < 300;
  return [
    'X-Request-Id',
    ...(ofNobody.has(status) ? [] : ['RateLimit-Policy', 'RateLimit']),
    ...(isDone && kind === 'write' ? ['Idempotent-Replayed'] : []),
    ...(isDone && media !== undefined ? ['Content-Disposition'] : []),
    ...([409, 429, 503].includes(status) ? ['Retry-After'] : []),
    ...(status === 401 ? ['WWW-Authenticate'] : []),
  ];
}
