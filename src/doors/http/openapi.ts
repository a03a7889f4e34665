/**
 * The machine-readable description (OpenAPI 3.0.0), made of the operations' own declarations by @fastify/swagger and
 * served at /-json and /-yaml.
 */
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import type { TSchema } from 'typebox';
import { invalid, most_problems, type RefusalCode, refusals } from '../../fiscal/refusal.ts';
import { operations } from '../../operations/all.ts';
import type { Operation } from '../../operations/operation.ts';
import type { World } from '../../operations/world.ts';
import { answerHeaders, headersOf } from './answer-headers.ts';
import { longest_instance, problemBody } from './problem.ts';

type Json = Record<string, unknown>;

const formatWords: Record<string, Json> = {
  line: { pattern: '^[^\\n\\r\\t\\u0085\\u2028\\u2029]*$' },
  country: { pattern: '^[A-Z]{2}$', example: 'PT' },
  currency: { pattern: '^[A-Z]{3}$', example: 'EUR' },
  instant: { format: 'date-time' },
  // A civil day, alone or as a date-time with zone.
  day: {
    pattern:
      '^\\d{4}-\\d{2}-\\d{2}(T([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d))?$',
  },
};

/** Refusals that any operation may answer, by status. */
const everywhere: readonly RefusalCode[] = [
  'AMBIGUOUS_CREDENTIALS',
  'BAD_HTTP',
  'INVALID_REQUEST',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'REQUEST_TIMEOUT',
  'URI_TOO_LONG',
  'EXPECTATION_FAILED',
  'RATE_LIMITED',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'UNAVAILABLE',
];

/** To be called before the operations' routes are added: it hears of those that come after it. */
export async function registerDescription(
  app: FastifyInstance,
  { baseUrl, program }: Pick<World, 'baseUrl' | 'program'>,
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.0.0',
      info: {
        title: 'Certo',
        // The contract is versioned with the service.
        version: program.version,
        description:
          'Certified invoicing for Portugal. Drafts are the safe test surface; issuing assigns a number, an ATCUD, a signature and a QR code, reports the document to the tax authority and cannot be undone.',
        license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      },
      servers: [{ url: baseUrl }],
      tags: [
        { name: 'Company', description: 'Identity, readiness and series.' },
        { name: 'Customers', description: 'Who is invoiced.' },
        { name: 'Items', description: 'What is invoiced.' },
        { name: 'Invoices', description: 'Drafts and issued documents.' },
        {
          name: 'Transport documents',
          description: 'Goods on their way, told to the tax authority before they leave.',
        },
        { name: 'Pro formas', description: 'What is promised before it is invoiced.' },
        { name: 'SAF-T', description: 'The audit file of a period.' },
      ],
      components: {
        securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
        schemas: { Problem: problemSchema as never },
        headers: answerHeaders as never,
      },
      security: [{ apiKey: [] }],
    },
    hideUntagged: true,
    transformObject: (made) => {
      if (!('openapiObject' in made)) return made.swaggerObject;
      const described = Object.values(made.openapiObject.paths as Paths).flatMap((methods) => Object.values(methods));
      for (const one of described) {
        markOptionalBody(one);
        addHeaders(one);
      }
      return made.openapiObject;
    },
  });
  // Written once, and as bytes, which Node copies for nobody: anybody may ask, and it is more than half a megabyte.
  let json: Buffer | undefined;
  let yaml: Buffer | undefined;
  app.get('/-json', { schema: { hide: true } }, (_request, reply) => {
    json ??= Buffer.from(JSON.stringify(app.swagger()));
    return reply.type('application/json; charset=utf-8').send(json);
  });
  app.get('/-yaml', { schema: { hide: true } }, (_request, reply) => {
    yaml ??= Buffer.from(app.swagger({ yaml: true }));
    return reply.type('application/yaml').send(yaml);
  });
}

interface Described {
  readonly operationId: string;
  readonly requestBody?: { required?: boolean; readonly content: Readonly<Record<string, Json>> };
  readonly responses: Record<string, Json>;
}

type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>;

/** No body equals `{}` (contract decisions 1): where that is valid, a body is not required. The plugin says it always is. */
function markOptionalBody({ requestBody }: Described): void {
  const schema = requestBody?.content['application/json']?.['schema'] as Json | undefined;
  if (requestBody !== undefined && schema?.['required'] === undefined) requestBody.required = false;
}

/** The fields by reference, which the plugin has no words for. */
function addHeaders({ operationId, responses }: Described): void {
  const operation = operations.find(({ name }) => name === operationId)!;
  for (const [status, { description, ...rest }] of Object.entries(responses)) {
    const names = headersOf(operation, Number(status));
    const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
    responses[status] = { description, headers, ...rest };
  }
}

/** The description of one operation as Fastify's route schema. */
export function describeOperation(operation: Operation): FastifySchema {
  const [status, reply] = operation.reply;
  return {
    operationId: operation.name,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(operation.params === undefined ? {} : { params: publicSchema(operation.params) }),
    ...(operation.query === undefined ? {} : { querystring: publicSchema(operation.query) }),
    ...(operation.body === undefined ? {} : { body: publicSchema(operation.body) }),
    ...(operation.kind === 'write' ? { headers: idempotencyHeader } : {}),
    response: {
      [status]: {
        description: 'Done.',
        content: { [operation.media ?? 'application/json']: { schema: publicSchema(reply) } },
      },
      ...problems(operation),
    },
  } as FastifySchema;
}

/** Each status an operation may refuse with, and its codes. */
function problems(operation: Operation): Json {
  const codes = new Set<RefusalCode>([...everywhere, ...operation.refuses]);
  if (operation.kind === 'write') {
    for (const code of [
      'MALFORMED_JSON',
      'BODY_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      'IDEMPOTENCY_KEY_INVALID',
      'IDEMPOTENCY_CONFLICT',
      'IDEMPOTENCY_KEY_REUSED',
      'OUTCOME_UNKNOWN',
    ] as const) {
      codes.add(code);
    }
  }
  const byStatus = new Map<number, RefusalCode[]>();
  for (const code of codes) {
    const { status } = refusals[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, list]) => [
        status,
        {
          description: list.sort().join(', '),
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      ]),
  );
}

const idempotencyHeader = {
  type: 'object',
  properties: {
    'idempotency-key': {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      pattern: '^[\\x21-\\x7E]+$',
      description: 'The same key with the same request runs once; repeating it returns the recorded result.',
    },
  },
};

/** What a caller is answered who names an item that there is not. */
const problemExample = problemBody(invalid([{ code: 'UNKNOWN_ITEM', pointer: '/items/0/id' }]), {
  language: 'en',
  requestId: '01a20f80-468e-7f88-bc2c-9d6d1bbd56f1',
  instance: '/invoices',
  baseUrl: 'https://certo.example',
});

const problemSchema: Json = {
  type: 'object',
  example: problemExample,
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId', 'message', 'statusCode'],
  properties: {
    type: { type: 'string', description: 'A page about the code.' },
    title: { type: 'string', description: 'What the status means.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'What happened and what to do, in the language of Accept-Language.' },
    instance: { type: 'string', description: `The path of the request, at most ${longest_instance} characters of it.` },
    code: { type: 'string', description: 'Stable code.' },
    requestId: { type: 'string', description: 'The same as X-Request-Id.' },
    errors: {
      type: 'array',
      maxItems: most_problems,
      description: 'Every problem of the request, each with its place.',
      items: {
        type: 'object',
        required: ['pointer', 'code', 'message'],
        properties: {
          pointer: {
            type: 'string',
            description: 'Into the body, as RFC 6901 says; "?name" of the query; ":name" of the path.',
          },
          code: { type: 'string', description: 'Stable code.' },
          message: { type: 'string', description: 'What is wrong there and what to do.' },
        },
      },
    },
    currentUpdatedAt: { type: 'string', format: 'date-time', description: 'DRAFT_CHANGED: the revision as it is now.' },
    reasons: {
      type: 'array',
      items: { type: 'string' },
      description: 'NOT_READY: codes of the reasons, as in GET /company.',
    },
    message: { type: 'string', description: 'The same as detail.' },
    statusCode: { type: 'integer', description: 'The same as status.' },
  },
};

/** JSON Schema of ours → OpenAPI 3.0.0: our own words are dropped, exclusive bounds become booleans. */
function publicSchema(schema: TSchema | Json): Json {
  const result: Json = {};
  for (const [word, value] of Object.entries(schema as Json)) {
    // As `multipleOf` it would refuse true amounts: 14.9 is no multiple of 0.000001 in binary.
    if (word === 'decimals') result['description'] = withDecimals(schema as Json, Number(value));
    else if (word === 'examples') result['example'] = (value as unknown[])[0];
    else if (word === 'format' && String(value) in formatWords) Object.assign(result, formatWords[String(value)]);
    else if (word === 'exclusiveMinimum') Object.assign(result, { minimum: value, exclusiveMinimum: true });
    else if (word === 'exclusiveMaximum') Object.assign(result, { maximum: value, exclusiveMaximum: true });
    else if (word === 'properties') {
      result[word] = Object.fromEntries(
        Object.entries(value as Json).map(([name, member]) => [name, publicSchema(member as Json)]),
      );
    } else if (word === 'items') result[word] = publicSchema(value as Json);
    else if (word === 'lowered' || word === 'filled' || (word === 'description' && 'decimals' in schema)) continue;
    else if (!word.startsWith('~')) result[word] = value;
  }
  return result;
}

function withDecimals({ description }: Json, decimals: number): string {
  const bound = decimals === 0 ? 'A whole number.' : `At most ${decimals} decimals.`;
  return description === undefined ? bound : `${String(description)} ${bound}`;
}
