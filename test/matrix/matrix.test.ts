/**
 * Every operation × every rule of the corridor. The rows come from the operations themselves; each answer is judged by
 * the client as well (test/conforms.ts): reply as declared, refusals declared, statuses in the description.
 */
import type { AddressInfo } from 'node:net';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refusals } from '../../src/fiscal/refusal.ts';
import { operations } from '../../src/operations/all.ts';
import { type Answer, openWire, type Refused, type Sent } from '../client.ts';
import { operationOf } from '../conforms.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { samples, withId, withQuery } from './samples.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let revoked: string;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
  ({ A, B } = service.companies);
  const key = await A.anotherKey();
  expect((await A.get('/company', { key: key.key })).status).toBe(200);
  await key.revoke();
  revoked = key.key;
});
afterAll(() => service.stop());

const refusal = (answer: Answer) => [answer.status, answer.json.code];
const pointers = (answer: Answer) => answer.json.errors?.map(({ pointer, code }) => [pointer, code]);
/** A refusal as bytes, without what is the request's own. */
const anonymous = ({ json }: Answer<Refused>) => JSON.stringify({ ...json, requestId: '', instance: '' });
/** Of these the contract lists 404 and no 400: a malformed id is the id of nothing. */
const only404: ReadonlySet<string> = new Set(['getProposal', 'getProposalPdf']);
const twoMebibytes = JSON.stringify({ notes: 'x'.repeat(2 * 1024 * 1024) });

test('every operation has a row', () => {
  expect(operations.map(({ name }) => name).toSorted()).toEqual(Object.keys(samples).toSorted());
});

test('on one connection each request is whose key it comes with', async () => {
  const wire = openWire((service.app.http.server.address() as AddressInfo).port, 1);
  const { key, revoke } = await A.anotherKey();
  const ask = async (headers: Sent['headers']) => {
    const { status, json } = await wire.send<{ id?: string; code?: string }>({
      method: 'GET',
      path: '/company',
      headers: { host: 'x', ...headers },
    });
    return [status, json.id ?? json.code];
  };
  const ofA = { 'x-api-key': key };
  expect(await ask(ofA)).toEqual([200, A.id]);
  expect(await ask(ofA)).toEqual([200, A.id]);
  expect(await ask({ 'x-api-key': B.key })).toEqual([200, B.id]);
  expect(await ask({})).toEqual([401, 'UNAUTHENTICATED']);
  expect(await ask({ 'x-api-key': `${B.key}0` })).toEqual([401, 'UNAUTHENTICATED']);
  expect(await ask({ 'x-api-key': B.key, authorization: 'Bearer x' })).toEqual([400, 'AMBIGUOUS_CREDENTIALS']);
  expect(await ask(ofA)).toEqual([200, A.id]);
  await revoke();
  expect(await ask(ofA)).toEqual([401, 'UNAUTHENTICATED']);
  wire.close();
});

describe.each(operations.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
  const sampled = () => samples[name]!(A);
  const { method } = operation;

  test('answers as declared, with the headers of an authenticated answer', async () => {
    const { path, body } = await sampled();
    const answer = await A.call(method, path, { body, headers: { 'x-request-id': 'my-request.1' } });
    expect(answer.status).toBe(operation.reply[0]);
    expect(answer.headers).toMatchObject({
      'content-type': operation.media ?? 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'my-request.1',
      'ratelimit-policy': '"credential";q=1000000;w=60',
    });
    expect(answer.headers['ratelimit']).toMatch(/^"credential";r=\d+;t=([1-9]|[1-5]\d|60)$/);
  });

  test('a query parameter it does not know: 400 with its name', async () => {
    const { path, body } = await sampled();
    const answer = await A.call(method, withQuery(path, 'nonsense=1'), { body });
    expect(refusal(answer)).toEqual([400, 'INVALID_REQUEST']);
    expect(pointers(answer)).toEqual([['?nonsense', 'UNKNOWN_PARAMETER']]);
  });

  test.each([
    ['no credential', null, {}],
    ['a key that is none', 'nonsense', {}],
    ['a key of nobody', 'svc_sk_0000000000000000000000000000000000000000000000000', {}],
    ['an empty key', '', {}],
    ['a bearer token', null, { authorization: 'Bearer svc_at_0' }],
    ['HTTP Basic', null, { authorization: 'Basic dTpw' }],
  ])('%s: 401', async (_what, key, headers) => {
    const { path, body } = await sampled();
    const answer = await A.call(method, path, { body, key, headers });
    expect(refusal(answer)).toEqual([401, 'UNAUTHENTICATED']);
    expect(answer.headers['www-authenticate']).toBe('ApiKey realm="certo", header="x-api-key"');
    expect(answer.headers['ratelimit']).toBeUndefined();
  });

  test('a key that was revoked: 401 on the next request', async () => {
    const { path, body } = await sampled();
    expect(refusal(await A.call(method, path, { body, key: revoked }))).toEqual([401, 'UNAUTHENTICATED']);
  });

  test('two credentials: 400', async () => {
    const { path, body } = await sampled();
    const answer = await A.call(method, path, { body, headers: { authorization: 'Bearer x' } });
    expect(refusal(answer)).toEqual([400, 'AMBIGUOUS_CREDENTIALS']);
  });

  test('another method: 405 and what it takes', async () => {
    const { path } = await sampled();
    const all = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
    const taken = all.filter((m) => operationOf(m, path) !== undefined);
    for (const other of all.filter((m) => !taken.includes(m))) {
      const answer = await A.call(other, path);
      expect([other, ...refusal(answer)]).toEqual([other, 405, 'METHOD_NOT_ALLOWED']);
      const allowed = answer.headers.allow?.split(', ').filter((m) => m !== 'HEAD');
      expect(allowed?.toSorted()).toEqual(taken.toSorted());
    }
  });

  test('refuses in English and Portuguese, with every member of a problem', async () => {
    const { path, body } = await sampled();
    const english = await A.call(method, withQuery(path, 'x=1'), { body });
    const portuguese = await A.call(method, withQuery(path, 'x=1'), {
      body,
      headers: { 'accept-language': 'pt-PT,en;q=0.5' },
    });
    expect(english.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(english.json).toEqual({
      type: 'http://certo.test/docs/errors#INVALID_REQUEST',
      title: 'Bad Request',
      status: 400,
      detail: expect.stringContaining('The request has 1 problem'),
      instance: path.split('?')[0],
      code: 'INVALID_REQUEST',
      requestId: english.headers['x-request-id'],
      errors: [{ pointer: '?x', code: 'UNKNOWN_PARAMETER', message: refusals.UNKNOWN_PARAMETER.en }],
      message: english.json.detail,
      statusCode: 400,
    });
    expect(portuguese.json).toMatchObject({
      title: 'Pedido inválido',
      detail: expect.stringContaining('O pedido tem 1 problema'),
      code: 'INVALID_REQUEST',
      errors: [{ pointer: '?x', code: 'UNKNOWN_PARAMETER', message: refusals.UNKNOWN_PARAMETER.pt }],
    });
  });

  if (operation.path.includes(':id')) {
    test('a malformed id: 400, or 404 where the contract has no 400; an unknown one and one of another company: the same 404, byte for byte', async () => {
      const { body } = await sampled();
      const malformed = await A.call(method, withId(operation.path, 'nonsense'), { body });
      if (only404.has(name)) expect(refusal(malformed)).toEqual([404, 'PROPOSAL_NOT_FOUND']);
      else {
        expect(refusal(malformed)).toEqual([400, 'INVALID_REQUEST']);
        expect(pointers(malformed)).toEqual([[':id', 'INVALID_ID']]);
      }

      const unknown = await A.call(method, withId(operation.path, uuidv7()), { body });
      const foreign = await A.call(method, (await samples[name]!(B)).path, { body });
      expect(unknown.status).toBe(404);
      expect(anonymous(foreign)).toBe(anonymous(unknown));
      expect(Object.keys(foreign.headers).toSorted()).toEqual(Object.keys(unknown.headers).toSorted());
    });
  }

  if (operation.kind === 'read') {
    test('an idempotency key is ignored', async () => {
      const { path } = await sampled();
      const headers = { 'idempotency-key': 'not a key at all' };
      expect((await A.call(method, path, { headers })).status).toBe(200);
    });
    return;
  }

  test('a field it does not know: 400 with its place', async () => {
    const { path, body } = await sampled();
    const answer = await A.call(method, path, { body: { ...body, nonsense: 1 } });
    expect(refusal(answer)).toEqual([400, 'INVALID_REQUEST']);
    expect(pointers(answer)).toEqual([['/nonsense', 'UNKNOWN_FIELD']]);
  });

  test.each([['[]'], ['null'], ['1'], ['"x"'], ['true']])('the body %s is no object: 400', async (raw) => {
    const { path } = await sampled();
    const answer = await A.call(method, path, { raw });
    expect(refusal(answer)).toEqual([400, 'INVALID_REQUEST']);
    expect(pointers(answer)).toEqual([['', 'INVALID_TYPE']]);
  });

  test('malformed JSON: 400', async () => {
    const { path } = await sampled();
    for (const raw of ['{', '{"a":1,}', "{'a':1}", '{"a":01}', '{"a":NaN}', '{} {}', '\u0000', '{"a":"\n"}']) {
      expect([raw, ...refusal(await A.call(method, path, { raw }))]).toEqual([raw, 400, 'MALFORMED_JSON']);
    }
    expect(refusal(await A.call(method, path, { raw: Buffer.from([0x7b, 0xff, 0x7d]) }))).toEqual([
      400,
      'MALFORMED_JSON',
    ]);
  });

  test('another content type, or a compressed body: 415', async () => {
    const { path } = await sampled();
    for (const [header, value] of [
      ['content-type', 'text/plain'],
      ['content-type', 'application/x-www-form-urlencoded'],
      ['content-type', 'application/json; charset=iso-8859-1'],
      ['content-type', 'application/jsonp'],
      ['content-type', 'application'],
      ['content-type', ''],
      ['content-encoding', 'gzip'],
    ] as const) {
      const answer = await A.call(method, path, { raw: '{}', headers: { [header]: value } });
      expect([value, ...refusal(answer)]).toEqual([value, 415, 'UNSUPPORTED_MEDIA_TYPE']);
      const unknown = await A.call(method, path, { raw: '{}', headers: { [header]: value }, key: null });
      expect([value, ...refusal(unknown)]).toEqual([value, 401, 'UNAUTHENTICATED']);
    }
  });

  test('any spelling of the type and of UTF-8 is taken, and an empty parameter (RFC 9110, 5.6.6)', async () => {
    const { path } = await sampled();
    const types = [
      'Application/JSON',
      'application/json;',
      'application/json ;',
      'application/json;charset="UTF-8"',
      'application/json; charset=utf8',
    ];
    for (const type of types) {
      const answer = await A.call(method, path, { raw: '{', headers: { 'content-type': type } });
      expect([type, ...refusal(answer)]).toEqual([type, 400, 'MALFORMED_JSON']);
    }
  });

  test('2 MiB: 413', async () => {
    const { path } = await sampled();
    expect(refusal(await A.call(method, path, { raw: twoMebibytes }))).toEqual([413, 'BODY_TOO_LARGE']);
  });

  test('an idempotency key with bad syntax: 400', async () => {
    const { path, body } = await sampled();
    for (const key of ['', 'a b', 'x'.repeat(129), 'chave-é', ['a', 'b']]) {
      const answer = await A.call(method, path, { body, headers: { 'idempotency-key': key } });
      expect([key, ...refusal(answer)]).toEqual([key, 400, 'IDEMPOTENCY_KEY_INVALID']);
    }
    const longest = await A.call(method, path, { body, headers: { 'idempotency-key': '~'.repeat(128) } });
    expect(longest.status).toBe(operation.reply[0]);
  });

  test('the same key twice: once done, once replayed, byte for byte', async () => {
    const { path, body } = await sampled();
    const headers = { 'idempotency-key': uuidv7() };
    const done = await A.call(method, path, { body, headers });
    const replayed = await A.call(method, path, { body, headers });
    expect(done.headers['idempotent-replayed']).toBeUndefined();
    expect(replayed.headers['idempotent-replayed']).toBe('true');
    expect([replayed.status, replayed.headers['content-type'], replayed.text]).toEqual([
      done.status,
      done.headers['content-type'],
      done.text,
    ]);
    expect(replayed.headers['ratelimit']).toBeDefined();
    // A payment is known by the receipt that it numbered.
    const { id, receipt } = done.json as unknown as { id: string; receipt?: { id: string } };
    const { rows } = await service.owner.query(
      'select count(*)::int as acts from certo.audit where operation = $1 and subject_id = $2',
      [name, receipt?.id ?? id],
    );
    expect(rows).toEqual([{ acts: 1 }]);
  });

  test('the same key with another request: 422, and the first still replays', async () => {
    const { path, body, otherBody } = await sampled();
    const headers = { 'idempotency-key': uuidv7() };
    const done = await A.call(method, path, { body, headers });
    const others: [string, Record<string, unknown> | undefined][] = [[withQuery(path, 'a=1'), body]];
    if (otherBody !== undefined) others.push([path, otherBody]);
    if (path.length > operation.path.length) others.push([withId(operation.path, uuidv7()), body]);
    for (const [otherPath, other] of others) {
      const answer = await A.call(method, otherPath, { body: other, headers });
      expect(refusal(answer)).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    }
    expect((await A.call(method, path, { body, headers })).text).toBe(done.text);
  });

  test('a key belongs to its credential: another key of the company is not replayed the first one’s result', async () => {
    const { path, body } = await sampled();
    const other = await A.anotherKey();
    const rotated = await A.anotherKey(A.keyId);
    const headers = { 'idempotency-key': uuidv7() };
    const done = await A.call(method, path, { body, headers });
    const again = await A.call(method, path, { body, headers, key: other.key });
    expect(again.headers['idempotent-replayed']).toBeUndefined();
    expect((await A.call(method, path, { body, headers, key: rotated.key })).text).toBe(done.text);
  });

  test('a refusal binds the key to its request, which stays retryable', async () => {
    const { path, body, otherBody } = await sampled();
    const headers = { 'idempotency-key': uuidv7() };
    const wrong = { ...body, nonsense: 1 };
    expect((await A.call(method, path, { body: wrong, headers })).status).toBe(400);
    expect((await A.call(method, path, { body: wrong, headers })).status).toBe(400);
    expect((await A.call(method, path, { body: otherBody ?? {}, headers })).status).toBe(422);
    const { rows } = await service.owner.query('select fence, completed_at from certo.claims where key = $1', [
      headers['idempotency-key'],
    ]);
    expect(rows).toEqual([{ fence: null, completed_at: null }]);
  });

  test('refusals of the steps before the claim do not bind the key', async () => {
    const { path, body } = await sampled();
    const key = uuidv7();
    const headers = { 'idempotency-key': key };
    expect((await A.call(method, path, { body, headers, key: null })).status).toBe(401);
    expect((await A.call(method, path, { raw: '{', headers })).status).toBe(400);
    expect(
      (await A.call(method, path, { raw: '{}', headers: { ...headers, 'content-type': 'text/plain' } })).status,
    ).toBe(415);
    expect((await A.call(method, path, { raw: twoMebibytes, headers })).status).toBe(413);
    expect((await service.owner.query('select 1 from certo.claims where key = $1', [key])).rowCount).toBe(0);
    expect((await A.call(method, path, { body, headers })).status).toBe(operation.reply[0]);
  });

  test('no body, an empty one and {} are one request', async () => {
    if (operation.body !== undefined) return;
    const { path } = await sampled();
    const headers = { 'idempotency-key': uuidv7() };
    const done = await A.call(method, path, { headers });
    for (const options of [{ raw: '' }, { raw: '{}' }, { raw: ' { } ' }]) {
      expect((await A.call(method, path, { ...options, headers })).text).toBe(done.text);
    }
  });

  test('checks come in their order', async () => {
    const { path, body } = await sampled();
    const wrong = { raw: '{', headers: { 'content-type': 'text/plain', 'idempotency-key': 'a b' } };
    const steps: [number, string, Parameters<TestCompany['call']>[2]][] = [
      [413, 'BODY_TOO_LARGE', { ...wrong, raw: twoMebibytes, key: null }],
      [401, 'UNAUTHENTICATED', { ...wrong, key: null }],
      [401, 'UNAUTHENTICATED', { ...wrong, key: revoked }],
      [415, 'UNSUPPORTED_MEDIA_TYPE', wrong],
      [400, 'MALFORMED_JSON', { ...wrong, headers: { 'idempotency-key': 'a b' } }],
      [400, 'IDEMPOTENCY_KEY_INVALID', { body: { ...body, nonsense: 1 }, headers: { 'idempotency-key': 'a b' } }],
    ];
    for (const [status, code, options] of steps) {
      expect(refusal(await A.call(method, withQuery(path, 'nonsense=1'), options))).toEqual([status, code]);
    }
    // The claim comes before the schema, the schema before the record.
    const headers = { 'idempotency-key': uuidv7() };
    expect((await A.call(method, path, { body, headers })).status).toBe(operation.reply[0]);
    expect((await A.call(method, withQuery(path, 'nonsense=1'), { body, headers })).status).toBe(422);
    if (operation.path.includes(':id')) {
      const unknown = withId(operation.path, uuidv7());
      expect((await A.call(method, unknown, { body: { ...body, nonsense: 1 } })).status).toBe(400);
    }
  });
});
