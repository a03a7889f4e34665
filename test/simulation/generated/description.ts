/** What our OpenAPI document says, read as a stranger reads it: nothing here knows the service from inside. */
import { Ajv, type ValidateFunction } from 'ajv';
import { decimalsOf } from '../../../src/fiscal/decimal.ts';
import type { Wire } from '../../client.ts';

/** A schema of OpenAPI 3.0.0, as far as the document uses it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly example?: unknown;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
}

export interface Described {
  readonly name: string;
  readonly method: string;
  /** With "{id}". */
  readonly path: string;
  /** The query as one object, closed. */
  readonly query: Schema;
  readonly body: Schema | undefined;
  /** Schema of the id in the path. */
  readonly id: Schema | undefined;
  readonly takesKey: boolean;
  /** What its replies are records of: "invoices". */
  readonly collection: string;
  /** Whether its reply is a file. */
  readonly file: boolean;
  readonly answers: ReadonlyMap<number, Declared>;
}

/** One status of an operation. */
export interface Declared {
  readonly media: string;
  /** Absent: a file. */
  readonly check: ValidateFunction | undefined;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    in: string;
    name: string;
    required: boolean;
    schema: Schema;
    description?: string;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, { content: Readonly<Record<string, { readonly schema: Schema }>> }>>;
}

/** Asks the service for its document. */
export async function readDescription(wire: Wire): Promise<Described[]> {
  const { json } = await wire.send<Document>({ method: 'GET', path: '/-json' });
  const compile = compiler(json);
  // Records of one kind have one schema: what converts a pro forma answers with an invoice.
  const kinds = new Map<string, string>();
  for (const [path, { get }] of Object.entries(json.paths))
    if (get !== undefined && /^\/[^/]+\/\{id\}$/.test(path)) kinds.set(doneOf(get), collectionOf(path));
  return Object.entries(json.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Described => {
      const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
      const answers = new Map<number, Declared>();
      for (const [status, { content }] of Object.entries(operation.responses))
        for (const [media, { schema }] of Object.entries(content))
          answers.set(Number(status), { media, check: schema.format === 'binary' ? undefined : compile(schema) });
      return {
        name: operation.operationId,
        method: method.toUpperCase(),
        path,
        query: {
          type: 'object',
          additionalProperties: false,
          required: query.filter(({ required }) => required).map(({ name }) => name),
          properties: Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
        },
        body: operation.requestBody?.content['application/json']?.schema,
        id: operation.parameters?.find((parameter) => parameter.in === 'path')?.schema,
        takesKey: (operation.parameters ?? []).some(({ name }) => name === 'idempotency-key'),
        collection: kinds.get(doneOf(operation)) ?? collectionOf(path),
        file: [...answers.values()].some(({ check }) => check === undefined),
        answers,
      };
    }),
  );
}

const collectionOf = (path: string): string => path.split('/')[1]!;

function doneOf({ responses }: Operation): string {
  const done = Object.entries(responses).find(([status]) => Number(status) < 300);
  return JSON.stringify(done?.[1].content['application/json']?.schema ?? null);
}

/** RFC 3339, as strictly as the format `date-time` means it. */
const dateTime =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function compiler({ components }: Document): (schema: Schema) => ValidateFunction {
  const ajv = new Ajv({ allErrors: true, strict: true, strictTypes: false, ownProperties: true });
  ajv.addFormat('date-time', dateTime);
  ajv.addFormat('uuid', uuid);
  // Halves of cents are no multiples of anything in binary: decimals are counted.
  const validate = (most: number, value: number): boolean => decimalsOf(value) <= most;
  ajv.addKeyword({ keyword: 'decimals', type: 'number', schemaType: 'number', validate });
  const compiled = new Map<string, ValidateFunction>();
  return (schema) => {
    const named = schema.$ref?.split('/').at(-1);
    const meant = named === undefined ? schema : components.schemas[named]!;
    const text = JSON.stringify(meant);
    const check = compiled.get(text) ?? ajv.compile(standard(meant));
    compiled.set(text, check);
    return check;
  };
}

/** OpenAPI 3.0.0 → JSON Schema. */
function standard(schema: Schema): Record<string, unknown> {
  const { nullable, example: _, multipleOf, exclusiveMinimum, exclusiveMaximum, minimum, maximum, ...rest } = schema;
  const result: Record<string, unknown> = { ...rest };
  if (minimum !== undefined) result[exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum'] = minimum;
  if (maximum !== undefined) result[exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum'] = maximum;
  if (multipleOf !== undefined) result['decimals'] = Math.round(-Math.log10(multipleOf));
  if (nullable === true) result['type'] = [rest.type, 'null'];
  if (nullable === true && rest.enum !== undefined) result['enum'] = [...rest.enum, null];
  if (rest.items !== undefined) result['items'] = standard(rest.items);
  if (rest.properties !== undefined) {
    const members = Object.entries(rest.properties).map(([name, member]) => [name, standard(member)]);
    result['properties'] = Object.fromEntries(members);
  }
  return result;
}
