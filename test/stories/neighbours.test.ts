/**
 * Callers that fail, and good ones at the same address: behind one proxy, or a broken program next door. Addresses are said by
 * X-Forwarded-For here, so that each test has one of its own.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { credentialOf } from '../../src/identity/principal.ts';
import { mintToken } from '../../src/identity/tokens.ts';
import type { Answer } from '../client.ts';
import { type CallOptions, type Service, startService, type TestCompany } from '../service.ts';

const limit = 200;
const trials = 2;

let service: Service;
let A: TestCompany;
let time = 1_800_000_000_000;
let addresses = 0;

beforeAll(async () => {
  const milliseconds = () => time;
  service = await startService({ companies: ['A'], ipRate: limit, milliseconds, trustedProxies: ['127.0.0.1'] });
  ({ A } = service.companies);
});
afterAll(() => service.stop());

const badKey = () => mintToken('svc_sk_', randomBytes(32));

/** An address nobody has asked from yet. `call`: of which process. */
function newAddress(call: Service['call'] = service.call) {
  addresses += 1;
  const address = `203.0.113.${addresses}`;
  const ask = (key: string | null, options: CallOptions = {}, method = 'GET', path = '/company'): Promise<Answer> =>
    call(method, path, { ...options, key, headers: { ...options.headers, 'x-forwarded-for': address } });
  return {
    ask,
    status: async (key: string | null) => (await ask(key)).status,
    /** Uses up what the address may fail in this minute. */
    async useUp(key: string | null = null): Promise<void> {
      const all = await Promise.all(Array.from({ length: limit }, () => ask(key)));
      expect(all.filter(({ status }) => status !== 401)).toEqual([]);
    },
  };
}

describe('beyond the limit of an address', () => {
  test('a key that this process knows goes on, whatever it asks, and is not counted', async () => {
    const { ask, status, useUp } = newAddress();
    expect(await status(A.key)).toBe(200);
    await useUp();
    for (const key of [null, 'svc_sk_none']) {
      const refused = await ask(key);
      expect([refused.status, refused.json.code, refused.headers['retry-after']]).toEqual([429, 'RATE_LIMITED', '60']);
    }
    for (let i = 0; i < 5; i += 1) {
      expect(await status(A.key)).toBe(200);
      expect(await status(null)).toBe(429);
    }
    const made = await ask(A.key, { body: { name: 'X', country: 'PT' } }, 'POST', '/customers');
    expect(made.status).toBe(201);
    // What is wrong with its own requests it is told as ever.
    expect((await ask(A.key, { raw: '{' }, 'POST', '/customers')).status).toBe(400);
    expect((await Promise.all(Array.from({ length: 50 }, () => status(A.key)))).every((one) => one === 200)).toBe(true);
  });

  test.each([
    ['a request that is in order', undefined],
    ['one whose form is wrong', '{'],
    ['one that is long', `{"name":"${'x'.repeat(10_000)}"`],
  ])('a key that was revoked is 401 once more, and then no better than any other: %s', async (_what, raw) => {
    const { ask, status, useUp } = newAddress();
    const { key, revoke } = await A.anotherKey();
    expect(await status(key)).toBe(200);
    await useUp();
    await revoke();
    const asked = async () =>
      (raw === undefined ? await ask(key) : await ask(key, { raw }, 'POST', '/customers')).status;
    // Known, then tried, then neither.
    expect([await asked(), await asked(), await asked(), await asked()]).toEqual([401, 401, 429, 429]);
    time += 60_000;
    expect(await asked()).toBe(401);
  });

  test('a process that knows no key yet tries one, and knows it then, however much one bad key asks', async () => {
    const other = await service.another();
    const { status, useUp } = newAddress(other.call);
    const bad = badKey();
    await useUp(bad);
    expect([await status(bad), await status(bad), await status(bad)]).toEqual([401, 429, 429]);
    for (let i = 0; i < 5; i += 1) expect([await status(A.key), await status(bad)]).toEqual([200, 429]);
    await other.stop();
  });

  test('so many keys are tried in a minute: beyond them an unknown one waits, and known ones go on', async () => {
    const { status, useUp } = newAddress();
    const { key } = await A.anotherKey();
    expect(await status(A.key)).toBe(200);
    await useUp();
    const bad = await Promise.all(Array.from({ length: 20 }, () => status(badKey())));
    expect(bad.filter((one) => one === 401)).toHaveLength(trials);
    expect(bad.filter((one) => one === 429)).toHaveLength(20 - trials);
    expect([await status(key), await status(A.key)]).toEqual([429, 200]);
    // Known to this process from another address, it is known here.
    expect(await newAddress().status(key)).toBe(200);
    expect(await status(key)).toBe(200);
    time += 60_000;
    expect(await status(null)).toBe(401);
  });

  test('what is not valid is not remembered, and pushes out nobody', async () => {
    const { status } = newAddress();
    const bad = badKey();
    expect([await status(A.key), await status(bad)]).toEqual([200, 401]);
    const { memory } = service.app.world;
    const subjectOf = (apiKey: string) => credentialOf({ apiKey, authorization: undefined }).subject;
    expect(memory.principal(subjectOf(bad))).toBeUndefined();
    expect(memory.wasLatelyValid(subjectOf(bad))).toBe(false);
    expect(memory.wasLatelyValid(subjectOf(A.key))).toBe(true);
  });
});

describe('X-Forwarded-For', () => {
  const told = (from: Service) => from.logs.filter((line) => line.includes('CERTO_TRUSTED_PROXIES'));
  const evil = '203.0.113.9, \u009b31m evil';

  test('that comes all the time while no proxy is trusted is told once, with the address that sends it', async () => {
    const alone = await startService({ companies: ['A'] });
    const ask = () => alone.call('GET', '/health/live', { headers: { 'x-forwarded-for': evil } });
    for (let i = 0; i < 19; i += 1) await ask();
    expect(told(alone)).toEqual([]);
    for (let i = 0; i < 30; i += 1) await ask();
    expect(told(alone).map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, address: '127.0.0.1', msg: expect.stringContaining('set CERTO_TRUSTED_PROXIES=127.0.0.1 and') },
    ]);
    expect(alone.logs.join()).not.toContain('evil');
    await alone.stop();
  });

  test('is nothing to be told of where a proxy is trusted', async () => {
    const { status } = newAddress();
    for (let i = 0; i < 30; i += 1) await status(A.key);
    expect(told(service)).toEqual([]);
  });
});
