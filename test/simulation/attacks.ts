/** Attacks on the wire, as bytes and what has to come of them. */

export interface Attack {
  readonly name: string;
  /** Text stands for its bytes, one a character. */
  readonly bytes: string | Buffer;
  /** Each answer, in order: what it may be. "200", "400 BAD_HTTP" (status and code), or "4xx". */
  readonly answers: readonly (readonly string[])[];
  /** What becomes of it: kept, it answers the next request. */
  readonly connection: 'kept' | 'closed' | 'either';
  /** Places of answers without a body. */
  readonly bodiless?: readonly number[];
  /** What the answers are told apart by, when they have to come in order. */
  readonly ids?: readonly string[];
  /** Milliseconds between its bytes, sent one by one. */
  readonly pace_ms?: number;
}

/** Writes something, were it believed. */
export const intruder = '{"name":"Intruso","country":"PT"}';
const refused = [['400 BAD_HTTP']] as const;

/** A request as text: with a Host unless `headers` bring one, and nothing else by itself. */
export function ask(line: string, headers: readonly string[] = [], body = ''): string {
  const host = headers.some((header) => /^host[\s:]/i.test(header)) ? [] : ['Host: certo.test'];
  return `${line} HTTP/1.1\r\n${[...host, ...headers].map((header) => `${header}\r\n`).join('')}\r\n${body}`;
}

const length = (text: string): string => `Content-Length: ${Buffer.byteLength(text, 'latin1')}`;
const chunked = (text: string): string => `${Buffer.byteLength(text, 'latin1').toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const bad = (name: string, bytes: string | Buffer): Attack => ({ name, bytes, answers: refused, connection: 'closed' });

/** Where does the request end? Whoever asks so is refused, and the connection with it. */
export function framingAttacks(key: string): Attack[] {
  const json = 'Content-Type: application/json';
  const post = (headers: readonly string[], body: string): string =>
    ask('POST /customers', [key, json, ...headers], body);
  const lengths = ['5, 5', '+33', '-1', '3 3', '0x21', '33.0', '', '99999999999999999999', '33\u000b'];
  const codings = [
    'xchunked',
    'chunked, identity',
    'identity',
    'chunked, chunked',
    'gzip, chunked',
    'gzip',
    'chunked\u000b',
    '"chunked"',
    'chunked;x=1',
    '',
  ];
  const sizes = [
    'ffffffffffffffffff',
    '-21',
    '0x21',
    '+21',
    '21 ',
    ' 21',
    '21\n',
    'g',
    '',
    '2_1',
    `21;${'e'.repeat(20_000)}`,
    '21;\u0000',
  ];
  const lines = [
    'Content-Length : 33',
    'Content-Length\t: 33',
    'Content-Length\u0000: 33',
    'Content Length: 33',
    ': 33',
    'X-Header',
    'X: a\u0000b',
    'X: a\rb',
    'X: a\u0001b',
    'X\u007f: a',
    '\u00e9: a',
    'X: a\nTransfer-Encoding: chunked',
    ' X: first line folded',
  ];
  return [
    bad('two equal lengths', post([length(intruder), length(intruder)], intruder)),
    bad('two lengths', post([length(intruder), 'Content-Length: 3'], intruder)),
    ...lengths.map((text) => bad(`the length ${JSON.stringify(text)}`, post([`Content-Length: ${text}`], intruder))),
    bad('a length and chunks', post([length(intruder), 'Transfer-Encoding: chunked'], chunked(intruder))),
    bad('chunks and a length', post(['Transfer-Encoding: chunked', length(intruder)], chunked(intruder))),
    bad('chunks in HTTP/1.0', post(['Transfer-Encoding: chunked'], chunked(intruder)).replace('HTTP/1.1', 'HTTP/1.0')),
    ...codings.map((text) =>
      bad(`the coding ${JSON.stringify(text)}`, post([`Transfer-Encoding: ${text}`], chunked(intruder))),
    ),
    bad('two codings', post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], chunked(intruder))),
    bad('a folded coding', post(['Transfer-Encoding:\r\n chunked'], chunked(intruder))),
    ...sizes.map((size) =>
      bad(
        `the chunk size ${JSON.stringify(size.slice(0, 20))}`,
        post(['Transfer-Encoding: chunked'], `${size}\r\n${intruder}\r\n0\r\n\r\n`),
      ),
    ),
    bad('a chunk longer than it says', post(['Transfer-Encoding: chunked'], `3\r\n${intruder}\r\n0\r\n\r\n`)),
    bad(
      'a length behind the chunks',
      post(['Transfer-Encoding: chunked'], `21\r\n${intruder}\r\n0\r\nContent-Length: 33\r\n\r\n`),
    ),
    bad('a chunk without its line end', post(['Transfer-Encoding: chunked'], `21\r\n${intruder}0\r\n\r\n`)),
    ...lines.map((line) => bad(`the header line ${JSON.stringify(line)}`, ask('GET /company', [key, line]))),
    bad('lines that end with LF', `GET /company HTTP/1.1\nHost: x\n${key}\n\n`),
    bad('lines that end with CR', `GET /company HTTP/1.1\rHost: x\r${key}\r\r`),
  ];
}

/** Request lines and hosts that are none. */
export function lineAttacks(key: string): Attack[] {
  const hosts = ['a b', 'a/b', 'a?b', 'user@a', 'a\\b', 'a#b', '\u00e9'];
  const lines = [
    'GET /company',
    'GET /company HTTP/0.9',
    'GET /company HTTP/2.0',
    'GET /company HTTP/1.10',
    'GET /company HTTP/11',
    'GET /company http/1.1',
    'GET /company HTTP/1.1 x',
    'GET\t/company HTTP/1.1',
    'GET /com pany HTTP/1.1',
    'get /company HTTP/1.1',
    'G\u0000T /company HTTP/1.1',
    'FETCH /company HTTP/1.1',
    'GET /company\u0000 HTTP/1.1',
    'GET /company\u0001 HTTP/1.1',
    'GET /company\r HTTP/1.1',
    'GET company HTTP/1.1',
    'GET \\company HTTP/1.1',
    'CONNECT certo.test:443 HTTP/1.1',
    'CONNECT / HTTP/1.1',
    'SSH-2.0-OpenSSH_9.6',
  ];
  return [
    ...lines.map((line) => bad(`the line ${JSON.stringify(line)}`, `${line}\r\nHost: x\r\n${key}\r\n\r\n`)),
    bad('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    bad('TLS', Buffer.from('16030100c8010000c40303', 'hex')),
    { ...bad('no Host', `GET /company HTTP/1.1\r\n${key}\r\n\r\n`), connection: 'either' },
    { ...bad('two Hosts', ask('GET /company', ['Host: a', 'Host: b', key])), connection: 'either' },
    { ...bad('the same Host twice', ask('GET /company', ['Host: a', 'Host: a', key])), connection: 'either' },
    ...hosts.map(
      (host): Attack => ({
        ...bad(`the host ${host}`, ask('GET /company', [`Host: ${host}`, key])),
        connection: 'either',
      }),
    ),
    {
      ...bad(
        'a second Host behind 2,100 headers',
        ask('GET /company', [key, 'Host: a', ...Array.from({ length: 2100 }, () => 'a:'), 'Host: b']),
      ),
      connection: 'either',
    },
    {
      ...bad(
        'two media types',
        ask(
          'POST /customers',
          [key, 'Content-Type: application/json', 'Content-Type: text/plain', length(intruder)],
          intruder,
        ),
      ),
      connection: 'either',
    },
    {
      name: 'an expectation that nobody has',
      bytes: ask('POST /customers', [key, 'Expect: 200-maybe', length(intruder)], intruder),
      answers: [['417 EXPECTATION_FAILED']],
      connection: 'closed',
    },
    {
      name: 'a long address',
      bytes: ask(`GET /company?${'x'.repeat(9000)}`, [key]),
      answers: [['414 URI_TOO_LONG']],
      connection: 'either',
    },
    {
      name: 'an address without end',
      bytes: ask(`GET /${'x'.repeat(40_000)}`, [key]),
      // Node hands over the last piece only: where that is not the first, it can't be told what there is too much of.
      answers: [['414 URI_TOO_LONG', '431 HEADERS_TOO_LARGE']],
      connection: 'closed',
    },
    ...[
      ask('GET /company', [key, `X: ${'x'.repeat(40_000)}`]),
      ask('GET /company', [key, ...Array.from({ length: 3000 }, (_, i) => `X-${i}: x`)]),
    ].map(
      (bytes, i): Attack => ({
        name: `headers without end (${i})`,
        bytes,
        answers: [['431 HEADERS_TOO_LARGE']],
        connection: 'closed',
      }),
    ),
  ];
}

/** Addresses that lead nowhere, however they are written. */
export function addressAttacks(key: string): Attack[] {
  const addresses = [
    '/%00',
    '/company%00',
    '/%',
    '/%zz',
    '/%c0%af',
    '/%ff',
    '/%ed%a0%80',
    '/customers/%2e%2e/company',
    '/customers/..%2fcompany',
    '/customers/..%252fcompany',
    '/customers/../company',
    '/../company',
    '/./company',
    '//company',
    '/company/',
    '/company%2f',
    '/company;x=1',
    '/company%3fx',
    '/COMPANY',
    '/company%20',
    '/__proto__',
    '/constructor',
    '/customers/__proto__',
    '/invoices/credit-notes/x',
    '/docs/../../etc/passwd',
    '/docs/%2e%2e/%2e%2e/package.json',
    '/docs/..%5c..%5cpackage.json',
    '/files/x/y/z',
    '/customers?__proto__[x]=1',
    '/customers?limit[]=1',
    '/customers?limit=1&limit=2',
    '/customers?limit=%31%30%30%30',
    '/customers?%00=1',
    '/customers?search=%ff',
    '/customers?search=%00',
    '/customers?search=%ed%a0%80',
    '/customers?constructor=1',
    '*',
  ];
  return addresses.map((address) => ({
    name: `the address ${address}`,
    bytes: ask(`GET ${address}`, [key]),
    answers: [['4xx']],
    connection: 'either',
  }));
}

/** Odd but legal: answered rightly, once, and the connection goes on. */
export function legalOddities(key: string): Attack[] {
  const json = 'Content-Type: application/json';
  const inside = ask('POST /customers', [key, json, length(intruder)], intruder);
  const legal = (
    name: string,
    bytes: string,
    answers: readonly (readonly string[])[],
    more: Partial<Attack> = {},
  ): Attack => ({ name, bytes, answers, connection: 'kept', ...more });
  const invalid = ['400 INVALID_REQUEST'];
  return [
    legal('an empty line before the request', `\r\n${ask('GET /company', [key])}`, [['200']]),
    legal('the whole address', ask('GET http://elsewhere.test/company', [key]), [['200']]),
    legal('a method that is not there, at the whole address', ask('PUT http://elsewhere.test/company', [key]), [
      ['405 METHOD_NOT_ALLOWED'],
    ]),
    legal('options of the server', ask('OPTIONS *', [key]), [['4xx']], { connection: 'either' }),
    legal('trace', ask('TRACE /company', [key, 'Max-Forwards: 3']), [['405 METHOD_NOT_ALLOWED']]),
    legal('two spaces', ask('GET  /company', [key]), [['200', '400 BAD_HTTP']], { connection: 'either' }),
    legal('HTTP/1.0', `GET /company HTTP/1.0\r\n${key}\r\n\r\n`, [['200']], { connection: 'closed' }),
    legal(
      'an upgrade',
      ask('GET /company', [
        key,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      ]),
      [['200']],
      { connection: 'closed' },
    ),
    legal(
      'an upgrade to HTTP/2',
      ask('GET /company', [
        key,
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
      ]),
      [['200']],
      { connection: 'closed' },
    ),
    legal('a body that is a request, on GET', ask('GET /company', [key, length(inside)], inside), [['200']]),
    legal('a body that is a request, on HEAD', ask('HEAD /company', [key, length(inside)], inside), [['200']], {
      bodiless: [0],
    }),
    legal('a body in chunks on GET', ask('GET /company', [key, 'Transfer-Encoding: chunked'], chunked(inside)), [
      ['200'],
    ]),
    legal('a body that is a request, on POST', ask('POST /customers', [key, json, length(inside)], inside), [
      ['400 MALFORMED_JSON'],
    ]),
    legal('a body that is a request, on DELETE', ask('DELETE /customers/x', [key, json, length(inside)], inside), [
      ['400 MALFORMED_JSON'],
    ]),
    legal('a body that is a request, where there is nothing', ask('POST /nothing', [key, length(inside)], inside), [
      ['404 ROUTE_NOT_FOUND'],
    ]),
    legal('100-continue', ask('POST /customers', [key, json, 'Expect: 100-continue', length('{}')], '{}'), [invalid]),
    legal(
      'chunks with extensions and trailers',
      ask(
        'POST /customers',
        [key, json, 'Transfer-Encoding: chunked'],
        '1;a=b\r\n{\r\n1;c="d"\r\n}\r\n0;d\r\nHost: other\r\nX-Api-Key: none\r\n\r\n',
      ),
      [invalid],
    ),
    legal(
      'chunks of one byte',
      ask('POST /customers', [key, json, 'Transfer-Encoding: chunked'], `${'1\r\n \r\n'.repeat(2000)}0\r\n\r\n`),
      [['400 MALFORMED_JSON']],
    ),
    legal(
      'a line break asked for in the request id',
      ask('GET /company', [key, 'X-Request-Id: a%0d%0aSet-Cookie:x=1']),
      [['200']],
    ),
    legal('two request ids', ask('GET /company', [key, 'X-Request-Id: one', 'X-Request-Id: two']), [['200']]),
    legal('two API keys', ask('GET /company', [key, key]), [['401 UNAUTHENTICATED']]),
    legal('two credentials', ask('GET /company', [key, 'Authorization: Bearer x']), [['400 AMBIGUOUS_CREDENTIALS']]),
    legal(
      'two idempotency keys',
      ask('POST /customers', [key, json, 'Idempotency-Key: a', 'Idempotency-Key: b', length(intruder)], intruder),
      [['400 IDEMPOTENCY_KEY_INVALID']],
    ),
    legal('the longest address', ask(`GET /company?${'x'.repeat(8000)}`, [key]), [invalid]),
    pipelined(key),
    legal(
      'what is no HTTP behind what is',
      `${ask('GET /company', [key])}${ask('GET /series', [key])}NONSENSE\r\n\r\n`,
      [['200'], ['200'], ...refused],
      { connection: 'closed' },
    ),
    legal(
      'two lengths behind a request under way',
      `${ask('POST /customers', [key, json, length('{}')], '{}')}${ask('POST /customers', [key, json, length('{}'), length('{}')], '{}')}`,
      [invalid, ...refused],
      { connection: 'closed' },
    ),
    legal(
      'a broken body behind a request under way',
      `${ask('GET /customers?limit=100', [key])}${ask('POST /customers', [key, json, 'Transfer-Encoding: chunked'], 'x\r\n')}`,
      [['200'], ...refused],
      { connection: 'closed' },
    ),
    legal(
      'what is no HTTP behind the last request',
      `${ask('GET /company', [key, 'Connection: close'])}NONSENSE\r\n\r\n`,
      [['200']],
      { connection: 'closed' },
    ),
    legal(
      'a broken body of a request that is answered',
      ask('GET /company', [key, 'Transfer-Encoding: chunked'], 'x\r\n'),
      [['200', '400 BAD_HTTP']],
      { connection: 'closed' },
    ),
  ];
}

/** Quick and slow ones behind each other: each is answered, in order. */
function pipelined(key: string): Attack {
  const paths = [
    '/company',
    '/invoices?limit=100',
    '/series',
    '/nothing',
    '/customers?limit=100',
    '/health/live',
    '/invoices',
    '/templates',
  ];
  const ids = Array.from({ length: 40 }, (_, i) => `in-order-${i}`);
  const bytes = ids.map((id, i) => ask(`GET ${paths[i % paths.length]}`, [key, `X-Request-Id: ${id}`])).join('');
  const answers = ids.map((_, i) => (paths[i % paths.length] === '/nothing' ? ['404 ROUTE_NOT_FOUND'] : ['200']));
  return { name: 'forty requests behind each other', bytes, answers, connection: 'kept', ids };
}
