/** The HTTP door beyond the operations: limits per minute, request ids, framing, health, what needs no credential. */
import { connect } from 'node:net';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Refused } from '../client.ts';
import { eventually } from '../eventually.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
/** The clock of the limits: each test has a minute of its own. */
let time = 1_800_000_000_000;

beforeAll(async () => {
  service = await startService({ companies: ['A'], apiKeyRate: 5, ipRate: 4, milliseconds: () => time });
  ({ A } = service.companies);
});
afterAll(() => service.stop());

const nextMinute = () => {
  time = (Math.floor(time / 60_000) + 1) * 60_000;
};
const told = ({ status, json, headers }: Answer) => [status, json?.code, headers['retry-after'], headers['ratelimit']];

describe('limits per minute', () => {
  test('a proxy that is trusted says who asks: what one caller fails is not counted against another', async () => {
    const open = (trustedProxies: string[]) =>
      startService({ companies: ['A'], ipRate: 2, milliseconds: () => time, trustedProxies });
    const statuses = async (behind: Service): Promise<number[]> => {
      const asked = [];
      for (const address of ['203.0.113.7', '203.0.113.7', '203.0.113.7', '203.0.113.8']) {
        const headers = { 'x-forwarded-for': `198.51.100.1, ${address}` };
        asked.push((await behind.call('GET', '/company', { key: null, headers })).status);
      }
      return asked;
    };
    for (const [proxies, expected] of [
      [
        ['10.0.0.0/8', '127.0.0.1'],
        [401, 401, 429, 401],
      ],
      [[], [401, 401, 429, 429]],
    ] as const) {
      const behind = await open([...proxies]);
      expect(await statuses(behind)).toEqual(expected);
      await behind.stop();
    }
  });

  test('a key has so many requests a minute; beyond them 429 with the wait, and RateLimit on every answer', async () => {
    nextMinute();
    for (const remaining of [4, 3, 2, 1, 0]) {
      const answer = await A.get('/company');
      expect(told(answer)).toEqual([200, undefined, undefined, `"credential";r=${remaining};t=60`]);
      expect(answer.headers['ratelimit-policy']).toBe('"credential";q=5;w=60');
    }
    time += 20_000;
    expect(told(await A.get('/company'))).toEqual([429, 'RATE_LIMITED', '40', '"credential";r=0;t=40']);
    expect(told(await A.post('/customers', { nonsense: 1 }))).toEqual([
      429,
      'RATE_LIMITED',
      '40',
      '"credential";r=0;t=40',
    ]);
    const other = await A.anotherKey();
    expect((await A.get('/company', { key: other.key })).status).toBe(200);
    nextMinute();
    expect((await A.get('/company')).status).toBe(200);
  });

  test('refusals count too, a request counts once, and the limit comes before the form', async () => {
    nextMinute();
    const headers = { 'idempotency-key': uuidv7() };
    const body = { name: 'Maria', country: 'PT' };
    expect(told(await A.post('/customers', body, { headers }))[3]).toBe('"credential";r=4;t=60');
    expect(told(await A.post('/customers', body, { headers }))[3]).toBe('"credential";r=3;t=60');
    expect(told(await A.post('/customers', {}))[3]).toBe('"credential";r=2;t=60');
    expect(told(await A.get(`/customers/${uuidv7()}`))[3]).toBe('"credential";r=1;t=60');
    expect(told(await A.call('POST', '/customers', { raw: '{' }))[3]).toBe('"credential";r=0;t=60');
    expect((await A.call('POST', '/customers', { raw: '{' })).status).toBe(429);
  });

  test('whoever is beyond the limit has bound no key: the same request runs a minute later', async () => {
    nextMinute();
    for (let i = 0; i < 5; i++) await A.get('/company');
    const headers = { 'idempotency-key': uuidv7() };
    const create = () => A.post('/customers', { name: 'Depois', country: 'PT' }, { headers });
    expect((await create()).status).toBe(429);
    const claims = 'select 1 from certo.claims where key = $1';
    expect((await service.owner.query(claims, [headers['idempotency-key']])).rowCount).toBe(0);
    nextMinute();
    expect((await create()).status).toBe(201);
  });

  test('nor has whoever of many at once is beyond it, also where its key was taken before that was known', async () => {
    nextMinute();
    const keys = Array.from({ length: 12 }, () => uuidv7());
    const create = (key: string) =>
      A.post('/customers', { name: key, country: 'PT' }, { headers: { 'idempotency-key': key } });
    const locker = await service.owner.connect();
    await locker.query('begin; lock table certo.claims in access exclusive mode');
    let begun = 0;
    const count = () => {
      begun += 1;
    };
    service.app.http.server.on('request', count);
    const creating = Promise.all(keys.map(create));
    await eventually(() => expect(begun).toBe(keys.length)).finally(() => locker.query('rollback'));
    locker.release();
    service.app.http.server.off('request', count);
    const statuses = (await creating).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(5);
    const refused = keys.filter((_, i) => statuses[i] === 429);
    expect(refused).toHaveLength(7);
    const claims = 'select fence from certo.claims where key = any ($1)';
    const { rows } = await service.owner.query(claims, [refused]);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ fence }) => fence !== null)).toEqual([]);
    nextMinute();
    expect((await Promise.all(refused.slice(0, 5).map(create))).map(({ status }) => status)).toEqual(
      Array(5).fill(201),
    );
  });

  test('of many at once that share a transaction each beyond it hears so, and not what else is wrong', async () => {
    nextMinute();
    const { key } = await A.anotherKey();
    const pay = () => A.post(`/invoices/${uuidv7()}/pay`, {}, { key });
    const statuses = (await Promise.all(Array.from({ length: 24 }, pay))).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array(5).fill(404), ...Array(19).fill(429)]);
  });

  test('an address that fails to authenticate is shut out for the minute; one that does not is not', async () => {
    nextMinute();
    for (let i = 0; i < 4; i++) expect((await A.get('/company', { key: 'nonsense' })).status).toBe(401);
    const shut = await A.get('/company', { key: 'nonsense' });
    expect(told(shut)).toEqual([429, 'RATE_LIMITED', '60', undefined]);
    expect((await A.get('/company', { key: null })).status).toBe(429);
    nextMinute();
    for (let i = 0; i < 5; i++) expect((await A.get('/company')).status).toBe(200);
    nextMinute();
    for (let i = 0; i < 3; i++) expect((await A.get('/company', { key: null })).status).toBe(401);
    expect((await A.get('/company')).status).toBe(200);
  });

  test('two credentials at once are no valid one, and count too', async () => {
    nextMinute();
    const both = { headers: { authorization: 'Bearer x' } };
    for (let i = 0; i < 4; i++) expect((await A.get('/company', both)).status).toBe(400);
    // Also where one of them is known: together they are none.
    expect((await A.get('/company', both)).status).toBe(429);
  });

  test('of IPv6 a subscriber is shut out, not the one address of many; others are not', async () => {
    nextMinute();
    const from = async (remoteAddress: string) =>
      (await service.app.http.inject({ method: 'GET', url: '/company', remoteAddress })).statusCode;
    for (let i = 1; i <= 4; i++) expect(await from(`2001:db8::${i}`)).toBe(401);
    expect([await from('2001:db8::5'), await from('2001:db8:0:1::1'), await from('192.0.2.1')]).toEqual([
      429, 401, 401,
    ]);
  });
});

describe('request ids', () => {
  test.each(['a', 'x'.repeat(128), '!~#', 'order 17, again', uuidv7()])(
    '%s is kept, in the header and in a problem',
    async (id) => {
      nextMinute();
      const answer = await A.get('/nothing', { headers: { 'x-request-id': id } });
      expect([answer.headers['x-request-id'], answer.json.requestId]).toEqual([id, id]);
    },
  );

  test.each(['', 'x'.repeat(129), 'é', 'a\tb'])('%j is replaced', async (id) => {
    const answer = await A.get('/nothing', { headers: { 'x-request-id': id } });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.json.requestId).toBe(answer.headers['x-request-id']);
  });

  test('it stands in the audit of what was done', async () => {
    nextMinute();
    await A.post('/customers', { name: 'X', country: 'PT' }, { headers: { 'x-request-id': 'audit-me' } });
    const { rows } = await service.owner.query(
      `select operation, actor from certo.audit where request_id = 'audit-me'`,
    );
    expect(rows).toEqual([{ operation: 'createCustomer', actor: expect.stringMatching(/^key-[0-9a-f]{12}$/) }]);
  });
});

/** What comes back for bytes that are no request of a client. */
function rawText(bytes: string): Promise<string> {
  const { port } = service.app.http.server.address() as { port: number };
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

async function raw(
  bytes: string,
): Promise<{ status: number; headers: string; json: Pick<Refused, 'code' | 'requestId' | 'instance' | 'title'> }> {
  const [headers = '', body = ''] = (await rawText(bytes)).split('\r\n\r\n');
  return { status: Number(headers.slice(9, 12)), headers: headers.toLowerCase(), json: JSON.parse(body) };
}

describe('framing', () => {
  test.each([
    ['no HTTP', 'HELLO\r\n\r\n', 400, 'BAD_HTTP'],
    ['a bad header', 'GET /company HTTP/1.1\r\nHost: x\r\nBad Header\r\n\r\n', 400, 'BAD_HTTP'],
    [
      'two lengths',
      'POST /items HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
      'BAD_HTTP',
    ],
    [
      'a length and chunks (smuggling)',
      'POST /items HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'BAD_HTTP',
    ],
    [
      'headers without end',
      `GET /company HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    ['an address without end', `GET /${'y'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414, 'URI_TOO_LONG'],
    ['another version', 'GET /company HTTP/2.0\r\nHost: x\r\n\r\n', 400, 'BAD_HTTP'],
    ['a target that is no path', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'BAD_HTTP'],
    ['a query that is no text', 'GET /company?x=%zz HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'BAD_HTTP'],
    ['no host', 'GET /company HTTP/1.1\r\n\r\n', 400, 'BAD_HTTP'],
    ['two hosts', 'GET /company HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n', 400, 'BAD_HTTP'],
    ['a host that is none', 'GET /company HTTP/1.1\r\nHost: x/y\r\n\r\n', 400, 'BAD_HTTP'],
    [
      'two credentials of one kind',
      'GET /company HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nauthorization: b\r\n\r\n',
      400,
      'BAD_HTTP',
    ],
    [
      'two media types',
      'GET /company HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\ncontent-type: text/plain\r\n\r\n',
      400,
      'BAD_HTTP',
    ],
    [
      'a coding beside chunks',
      'POST /items HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
      400,
      'BAD_HTTP',
    ],
    [
      'chunks in HTTP/1.0',
      'POST /items HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'BAD_HTTP',
    ],
  ])('%s: refused as a problem, with a request id', async (_what, bytes, status, code) => {
    const answer = await raw(bytes);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(answer.headers).toContain('content-type: application/problem+json');
    expect(answer.headers).toContain(`x-request-id: ${answer.json.requestId}`);
  });

  test.each(['/company', '/docs/errors', '/nothing'])(
    '%s asked for in another protocol is answered in this one, and ends the connection: what follows may be of the other',
    async (path) => {
      const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept-Language: en\r\n`;
      const received = await rawText(`${head}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n${head}\r\n`);
      expect(received.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1);
      expect(received.toLowerCase()).toContain('\r\nconnection: close\r\n');
    },
  );

  test.each([
    ['an expectation', `POST /customers?x=1 HTTP/1.1\r\nHost: x\r\nExpect: x\r\n`, 417, '/customers'],
    [
      'broken chunks',
      'POST http://x/customers HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n',
      400,
      '/customers',
      'zz\r\n',
    ],
    ['a path that is no text', 'GET /customers/%zz HTTP/1.1\r\nHost: x\r\n', 400, '/customers/%zz'],
    ['a long one', `GET /%zz${'y'.repeat(400)} HTTP/1.1\r\nHost: x\r\n`, 400, `/%zz${'y'.repeat(296)}`],
    ['a tunnel', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n', 400, ''],
    ['a fragment', 'GET /company#x HTTP/1.1\r\nHost: x\r\n', 400, '/company#x'],
  ])('%s: refused by the id, in the language and with the path of the request', async (_what, head, ...told) => {
    const [status, instance, body = ''] = told;
    const asked = (id: string) =>
      raw(`${head}X-Request-Id: ${id}\r\nAccept-Language: pt\r\nConnection: close\r\n\r\n${body}`);
    const { json, headers, ...answer } = await asked('meu-pedido');
    expect([answer.status, json.requestId, json.instance]).toEqual([status, 'meu-pedido', instance]);
    expect(headers).toContain('x-request-id: meu-pedido\r\n');
    expect(json.title).toBe(status === 417 ? 'Expectativa não satisfeita' : 'Pedido inválido');
    // One that is not well formed is replaced, as everywhere.
    expect((await asked('x'.repeat(129))).json.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('a request behind another on its connection comes after it, and sees what that one did', async () => {
    nextMinute();
    const name = `Primeiro ${uuidv7()}`;
    const body = JSON.stringify({ name, country: 'PT' });
    const head = `Host: x\r\nx-api-key: ${A.key}\r\n`;
    const post = `POST /customers HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const get = `GET /customers?name=${encodeURIComponent(name)} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`;
    const text = await rawText(post + get);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 200']);
    expect(JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n')))).toMatchObject([{ name }]);
  });

  test('an address beyond 8 KiB: 414, whoever asks and wherever', async () => {
    nextMinute();
    for (const path of [`/customers?search=${'y'.repeat(9000)}`, `/${'y'.repeat(9000)}`]) {
      const answer = await A.get(path, { key: null });
      expect([answer.status, answer.json.code]).toEqual([414, 'URI_TOO_LONG']);
    }
  });

  test('a part of an address as long as an address may be is no special case', async () => {
    nextMinute();
    for (const length of [199, 201, 7_000]) {
      const path = `/invoices/${'a'.repeat(length)}`;
      expect([length, ...told(await A.call('GET', path, { key: null })).slice(0, 2)]).toEqual([
        length,
        401,
        'UNAUTHENTICATED',
      ]);
      expect([length, ...told(await A.get(path)).slice(0, 2)]).toEqual([length, 400, 'INVALID_REQUEST']);
    }
  });

  test.each([
    ['POST', '/-json', 'GET, HEAD'],
    ['DELETE', '/docs', 'GET, HEAD'],
    ['POST', '/health/live', 'GET, HEAD'],
    ['PATCH', '/.well-known/fiscal-keys.json', 'GET, HEAD'],
    ['POST', `/files/${uuidv7()}/${uuidv7()}/qr`, 'GET, HEAD'],
    ['GET', '/invoices/credit-notes', 'POST'],
    ['PATCH', '/invoices/credit-notes', 'POST'],
    ['PUT', '/invoices/x', 'GET, HEAD, PATCH, DELETE'],
    ['PUT', '/%69nvoices', 'GET, HEAD, POST'],
    ['GET', '/invoices/credit%2Dnotes', 'POST'],
    ['POST', '/%66iles/x/x/%71r?x=%2f', 'GET, HEAD'],
  ])('%s %s: 405, and what it takes', async (method, path, allowed) => {
    nextMinute();
    const answer = await service.call(method, path);
    expect([answer.status, answer.json.code, answer.headers['allow']?.split(', ').sort()]).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
      allowed.split(', ').sort(),
    ]);
  });

  test('a media type may end in a semicolon', async () => {
    nextMinute();
    const headers = { 'content-type': 'application/json;' };
    expect((await A.call('POST', '/customers', { body: { name: 'X', country: 'PT' }, headers })).status).toBe(201);
  });

  test('a compressed body: told what to leave out, since its type is right', async () => {
    nextMinute();
    const answer = await A.call('POST', '/customers', { raw: '{}', headers: { 'content-encoding': 'gzip' } });
    expect([answer.status, answer.json.detail]).toEqual([415, expect.stringContaining('Content-Encoding')]);
  });

  test('a body that never says its length is cut at the limit all the same, and its connection too', async () => {
    nextMinute();
    const chunk = `${(65536).toString(16)}\r\n${'x'.repeat(65536)}\r\n`;
    const head = `POST /customers HTTP/1.1\r\nHost: x\r\nx-api-key: ${A.key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const answer = await raw(`${head}${chunk.repeat(20)}0\r\n\r\n`);
    expect([answer.status, answer.json.code]).toEqual([413, 'BODY_TOO_LARGE']);
  });
});

describe('numbers and booleans in a query', () => {
  test.each(['0x1', '1e1', ' 1', '1 ', '+1', '1.', '.5', '', 'Infinity', 'NaN', '١', 'true', '1'.repeat(400)])(
    '%j is no number',
    async (text) => {
      nextMinute();
      for (const parameter of ['offset', 'taxRate']) {
        const { status, json } = await A.get(`/items?${parameter}=${encodeURIComponent(text)}`);
        expect([parameter, status, json.errors]).toMatchObject([
          parameter,
          400,
          [{ pointer: `?${parameter}`, code: 'INVALID_TYPE' }],
        ]);
      }
    },
  );

  test.each(['1', '0', 'TRUE', 'yes', '', 'null'])('%j is no boolean', async (text) => {
    nextMinute();
    const { status, json } = await A.get(`/items?isArchived=${text}`);
    expect([status, json.errors]).toMatchObject([400, [{ pointer: '?isArchived', code: 'INVALID_TYPE' }]]);
  });

  test('as they are written elsewhere, they are read', async () => {
    nextMinute();
    for (const query of ['offset=007&limit=1', 'taxRate=23.00&isArchived=false', 'unitPrice=0.000001&isArchived=true'])
      expect([query, (await A.get(`/items?${query}`)).status]).toEqual([query, 200]);
  });
});

describe('without a credential', () => {
  test('health, keys and the description are open; nothing else tells anything', async () => {
    nextMinute();
    for (const path of ['/health/live', '/health/ready', '/.well-known/fiscal-keys.json', '/-json', '/-yaml'])
      expect([path, (await service.call('GET', path)).status]).toEqual([path, 200]);
    const keys = await service.call('GET', '/.well-known/fiscal-keys.json');
    expect(keys.headers['cache-control']).toBe('public, max-age=300');
    expect(keys.json).toEqual({
      algorithm: 'RSA-SHA1',
      signed: 'date;systemEntryDate;documentNumber;grossTotal;previousHash',
      certificateNumber: 9999,
      keys: [{ version: 1, publicKeyPem: service.publicPem }],
    });
  });

  test('ready opens a connection to the database once in a while, however often it is asked', async () => {
    let opened = 0;
    const other = await service.another((db) => ({
      ...db,
      knock() {
        opened += 1;
        return db.knock();
      },
    }));
    for (let i = 0; i < 3; i += 1) expect((await other.call('GET', '/health/ready')).status).toBe(200);
    expect(opened).toBe(1);
    await other.stop();
  });

  test('an id that can be none is refused after the credential, and counts', async () => {
    nextMinute();
    for (const [method, path] of [
      ['GET', '/proposals/x'],
      ['GET', '/proposals/x/pdf'],
      ['DELETE', '/proposals/x'],
      ['POST', '/proposals/x/cancel'],
    ] as const)
      expect([path, (await A.call(method, path, { key: null })).status]).toEqual([path, 401]);
    nextMinute();
    expect(told(await A.get('/proposals/x'))).toEqual([404, 'PROPOSAL_NOT_FOUND', undefined, '"credential";r=4;t=60']);
    expect(told(await A.delete('/proposals/x'))[3]).toBe('"credential";r=3;t=60');
  });

  test('HEAD answers like GET, without a body', async () => {
    const head = await A.call('HEAD', '/company');
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await A.call('HEAD', '/company', { key: null })).status).toBe(401);
    expect((await A.call('PUT', '/customers')).headers.allow).toBe('POST, GET, HEAD');
    expect((await A.call('HEAD', `/invoices/${uuidv7()}/issue`)).status).toBe(405);
  });
});
