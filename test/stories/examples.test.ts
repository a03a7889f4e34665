/**
 * The body that the description offers of each write, and the reference fills in to be tried: it is taken as it stands, but
 * for ids and revisions, which are the reader's own.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operations } from '../../src/operations/all.ts';
import { samples } from '../matrix/samples.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

interface Description {
  readonly paths: Readonly<
    Record<string, Record<string, { requestBody?: { content: Record<string, { schema: { example?: Body } }> } }>>
  >;
}
type Body = Readonly<Record<string, unknown>>;

let service: Service;
let A: TestCompany;
let description: Description;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
  description = (await service.call<Description>('GET', '/-json')).json;
});
afterAll(() => service.stop());

const isOwn = /^(?:id|customerId|parentInvoiceId|expectedUpdatedAt)$/;

/** With the reader's ids and revisions, where the example has some. */
function owned(example: unknown, own: unknown): unknown {
  if (example === null || typeof example !== 'object') return example;
  const of = (own ?? {}) as Body;
  if (Array.isArray(example)) return example.map((member, i) => owned(member, (of as unknown as unknown[])[i]));
  return Object.fromEntries(
    Object.entries(example).map(([name, member]) => [name, isOwn.test(name) ? of[name] : owned(member, of[name])]),
  );
}

const writes = operations.filter(({ body }) => body !== undefined);

test.each(writes.map((operation) => [operation.name, operation] as const))('%s', async (name, operation) => {
  const { method, path, reply } = operation;
  const described = description.paths[path.replace(/:(\w+)/g, '{$1}')]![method.toLowerCase()]!;
  const { example } = described.requestBody!.content['application/json']!.schema;
  expect(example).toEqual(expect.any(Object));
  const sample = await samples[name]!(A);
  const answer = await A.call(method, sample.path, { body: owned(example, sample.body) });
  expect([answer.status, answer.text]).toEqual([reply[0], answer.text]);
});
