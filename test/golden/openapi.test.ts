/**
 * The machine-readable description: valid OpenAPI 3.0.0, complete, and the same as last time. A change on purpose is
 * accepted with: UPDATE_GOLDEN=1 npx vitest run test/golden/openapi.test.ts && npx biome format --write test/golden
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { validate } from '@readme/openapi-parser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { refusals } from '../../src/fiscal/refusal.ts';
import { operations } from '../../src/operations/all.ts';
import { program, type Service, startService } from '../service.ts';

interface Schema {
  readonly [word: string]: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security?: unknown;
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { schema: Schema }>>;
  };
  readonly responses: Readonly<
    Record<string, { description: string; headers: object; content: Readonly<Record<string, { schema: Schema }>> }>
  >;
}

interface Description {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly servers: readonly { url: string }[];
  readonly security: readonly Record<string, unknown>[];
  readonly components: { readonly schemas: Record<string, Schema>; readonly securitySchemes: Record<string, unknown> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

const goldenFile = fileURLToPath(new URL('openapi.json', import.meta.url));
let service: Service;
let text: string;
let description: Description;

beforeAll(async () => {
  service = await startService({ companies: [] });
  const answer = await service.call<Description>('GET', '/-json');
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  text = answer.text;
  description = answer.json;
});
afterAll(() => service.stop());

const described = (method: string, path: string): Described | undefined =>
  description.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];

test('it is valid OpenAPI 3.0.0, without a warning', async () => {
  expect(description.openapi).toBe('3.0.0');
  const result = await validate(JSON.parse(text));
  expect(result).toEqual({ valid: true, warnings: [], specification: 'OpenAPI' });
});

test('it is what it was', () => {
  if (process.env['UPDATE_GOLDEN'] !== undefined) writeFileSync(goldenFile, JSON.stringify(description, null, 2));
  const golden: unknown = JSON.parse(readFileSync(goldenFile, 'utf8'));
  expect(description).toEqual(golden);
  // The order of members is part of it: people read it.
  expect(text).toBe(JSON.stringify(golden));
});

test('its version is that of the program: the contract is versioned with the service', () => {
  expect(description.info.version).toBe(program.version);
});

test('how many decimals there may be is said once', () => {
  expect([...text.matchAll(/"description":"([^"]*)"/g)].map(([, words]) => words).filter(isTold)).toEqual([]);
  function isTold(words: string | undefined): boolean {
    return [...(words ?? '').matchAll(/most \d decimals/g)].length > 1;
  }
});

test('YAML says the same', async () => {
  const answer = await service.call('GET', '/-yaml');
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/yaml']);
  expect(parse(answer.text)).toEqual(description);
});

test('every operation is in it, once, and nothing else', () => {
  const all = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
  );
  const declared = operations.map(({ name, method, path }) => `${name} ${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
  expect(all.toSorted()).toEqual(declared.toSorted());
});

test('each says what it takes, what it answers and how it refuses', () => {
  for (const operation of operations) {
    const { name, method, path } = operation;
    const own = described(method, path)!;
    expect([name, own.summary, own.tags]).toEqual([name, operation.summary, [operation.tag]]);
    const parameters = own.parameters ?? [];
    const names = (place: string) => parameters.filter((p) => p.in === place).map((p) => p.name);
    expect([name, names('path')]).toEqual([name, [...path.matchAll(/:(\w+)/g)].map(([, param]) => param)]);
    const query = (operation.query as unknown as Schema | undefined)?.properties ?? {};
    expect([name, names('query')]).toEqual([name, Object.keys(query)]);
    expect([name, names('header')]).toEqual([name, operation.kind === 'write' ? ['idempotency-key'] : []]);
    const required = (operation.body as unknown as Schema | undefined)?.['required'] !== undefined;
    expect([name, own.requestBody?.required]).toEqual([name, operation.body === undefined ? undefined : required]);

    const { [operation.reply[0]]: done, ...others } = own.responses;
    expect([name, Object.keys(done!.content)]).toEqual([name, [operation.media ?? 'application/json']]);
    for (const [status, { description: codes, content }] of Object.entries(others)) {
      expect(Object.keys(content)).toEqual(['application/problem+json']);
      for (const code of codes.split(', ')) expect(refusals).toHaveProperty([code, 'status'], Number(status));
    }
    const told = Object.values(others).flatMap(({ description: codes }) => codes.split(', '));
    expect([name, operation.refuses.filter((code) => !told.includes(code))]).toEqual([name, []]);
    const always = [
      '400',
      '401',
      '403',
      '429',
      '500',
      '503',
      ...(operation.kind === 'write' ? ['409', '413', '415', '422'] : []),
    ];
    expect(Object.keys(own.responses)).toEqual(expect.arrayContaining(always));
  }
});

test('what is wrong with any request is told of each operation', async () => {
  const answers = [
    await service.call('GET', '/items?search=%FF'),
    await service.call('GET', '/items', { headers: { expect: 'more' } }),
  ];
  expect(answers.map(({ status, json }) => [status, json.code])).toEqual([
    [400, 'BAD_HTTP'],
    [417, 'EXPECTATION_FAILED'],
  ]);
  for (const { name, method, path } of operations)
    for (const { status, json } of answers) {
      const codes = described(method, path)!.responses[status]?.description.split(', ');
      expect([name, status, codes]).toEqual([name, status, expect.arrayContaining([json.code])]);
    }
});

test('header fields stand where they come, and nowhere else', () => {
  const always = ['X-Request-Id'];
  const known = [...always, 'RateLimit-Policy', 'RateLimit'];
  const byStatus: Readonly<Record<string, readonly string[]>> = {
    '401': [...always, 'WWW-Authenticate'],
    '408': always,
    '414': always,
    '417': always,
    '431': always,
    '409': [...known, 'Retry-After'],
    '429': [...known, 'Retry-After'],
    '503': [...known, 'Retry-After'],
  };
  for (const { name, method, path, kind, reply } of operations) {
    const done = [
      ...known,
      ...(kind === 'write' ? ['Idempotent-Replayed'] : []),
      ...(name === 'getSaft' ? ['Content-Disposition'] : []),
    ];
    for (const [status, { headers }] of Object.entries(described(method, path)!.responses)) {
      const expected = Number(status) === reply[0] ? done : (byStatus[status] ?? known);
      expect([name, status, Object.keys(headers)]).toEqual([name, status, expected]);
    }
  }
});

test('every schema is closed, typed and told, and uses no word of ours', () => {
  const words = new Set<string>();
  const look = (schema: Schema, place: string): void => {
    for (const word of Object.keys(schema)) words.add(word);
    expect([place, schema['type'] ?? schema['$ref']]).toEqual([place, expect.any(String)]);
    if (schema['type'] === 'object' && schema.properties !== undefined && !place.startsWith('#'))
      expect([place, schema['additionalProperties']]).toEqual([place, false]);
    for (const [name, member] of Object.entries(schema.properties ?? {})) look(member, `${place}.${name}`);
    if (schema.items !== undefined) look(schema.items, `${place}[]`);
  };
  for (const { name, method, path, kind } of operations) {
    const own = described(method, path)!;
    for (const { name: parameter, schema } of own.parameters ?? []) look(schema, `${name} ?${parameter}`);
    for (const { schema } of Object.values(own.requestBody?.content ?? {})) look(schema, name);
    for (const { content } of Object.values(own.responses))
      for (const { schema } of Object.values(content)) look(schema, `${name} ${kind}`);
  }
  for (const [name, schema] of Object.entries(description.components.schemas)) look(schema, `#${name}`);
  const standard = [
    '$ref',
    'additionalProperties',
    'default',
    'description',
    'enum',
    'example',
    'exclusiveMaximum',
    'exclusiveMinimum',
    'format',
    'items',
    'maxItems',
    'maxLength',
    'maximum',
    'minItems',
    'minLength',
    'minimum',
    'multipleOf',
    'nullable',
    'pattern',
    'properties',
    'required',
    'type',
  ];
  expect([...words].filter((word) => !standard.includes(word))).toEqual([]);
  expect(text).not.toContain('"exclusiveMinimum":0');
});

test('days and moments of answers are date-times', () => {
  const plain: string[] = [];
  const look = (schema: Schema, name: string, place: string): void => {
    const isMoment = /(?:At|Date|^date)$/.test(name) && schema['type'] === 'string';
    if (isMoment && schema['format'] !== 'date-time') plain.push(`${place}.${name}`);
    for (const [member, of] of Object.entries(schema.properties ?? {})) look(of, member, `${place}.${name}`);
    if (schema.items !== undefined) look(schema.items, '', `${place}.${name}[]`);
  };
  for (const { name, method, path } of operations)
    for (const { content } of Object.values(described(method, path)!.responses))
      for (const { schema } of Object.values(content)) look(schema, '', name);
  for (const [name, schema] of Object.entries(description.components.schemas)) look(schema, name, '#');
  expect(plain).toEqual([]);
});

test('the key is required everywhere, and where it is served stands in it', () => {
  expect(description.security).toEqual([{ apiKey: [] }]);
  expect(description.components.securitySchemes).toEqual({
    apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  });
  expect(description.servers).toEqual([{ url: 'http://certo.test' }]);
});

test('what the draft of a credit note takes is told where it is changed', () => {
  const { description: words, requestBody } = described('PATCH', '/invoices/:id')! as Described & {
    description: string;
  };
  for (const name of ['date', 'notes', 'reason', 'seriesId', 'items'])
    expect(words).toMatch(new RegExp(`CREDIT_NOTE[^.]*\\b${name}\\b`));
  const { reason, items } = requestBody!.content['application/json']!.schema.properties!;
  expect(reason!['description']).toContain('CREDIT_NOTE');
  expect(items!.items!.properties!['id']!['description']).toContain('CREDIT_NOTE');
});

test('a pro forma is described without what it never has, and is not said to be issued', () => {
  for (const name of ['createProposal', 'listProposals', 'getProposal', 'cancelProposal']) {
    const { method, path, reply } = operations.find((operation) => operation.name === name)!;
    const { schema } = described(method, path)!.responses[reply[0]]!.content['application/json']!;
    const members = (schema.items ?? schema).properties!;
    expect([name, members]).toEqual([name, expect.not.objectContaining({ reason: expect.anything() })]);
    expect([name, members['updatedAt']!['description']]).toEqual([name, 'Last change of the record.']);
  }
});

test('enumerations are the contract’s', () => {
  const parameter = (name: string) =>
    described('GET', '/invoices')!.parameters!.find((p) => p.name === name)!.schema['enum'];
  expect(parameter('status')).toEqual(['CANCELED', 'CREATED', 'DRAFT', 'ISSUED', 'PAID', 'PROCESSING', 'SCHEDULED']);
  expect(parameter('aggregatedStatus')).toEqual(['DRAFT', 'OVERDUE', 'PAID', 'PENDING', 'SCHEDULED', 'UNPAID']);
  expect(parameter('documentType')).toEqual([
    'CREDIT_NOTE',
    'DEBIT_NOTE',
    'INVOICE',
    'INVOICE_RECEIPT',
    'RECEIPT',
    'SIMPLIFIED_INVOICE',
  ]);
});
