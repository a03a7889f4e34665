// Who gets in: client certificate, header, key, clock. Everything goes over the wire as an attacker would send it.
import { constants, createPublicKey, generateKeyPairSync, publicEncrypt, randomBytes } from 'node:crypto';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AtWorld } from '../fixtures/at-world.ts';
import { openAtWorld } from '../fixtures/at-world.ts';
import * as s from '../fixtures/samples.ts';
import { bodies, envelope } from '../messages.ts';
import { encrypt, securityHeader } from '../wsse.ts';
import { recentKeys } from './recent-keys.ts';

let world: AtWorld;
beforeAll(async () => {
  world = await openAtWorld();
});
afterAll(() => world.close());

interface Tls {
  cert?: string;
  key?: string;
  ca?: string;
}

function send(body: string, tls: Tls = {}, path = '/SeriesWSService', soapAction = '""'): Promise<string> {
  const { simulator } = world;
  const material = {
    cert: simulator.clientCertificate.certPem,
    key: simulator.clientCertificate.keyPem,
    ca: simulator.caPem,
    ...tls,
  };
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'text/xml', SOAPAction: soapAction };
    const outgoing = request(
      new URL(path, simulator.url),
      { method: 'POST', agent: false, headers, ...material },
      (incoming) => {
        let text = '';
        incoming.on('data', (chunk) => (text += chunk));
        incoming.on('end', () => resolve(text));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const atPublicKey = () => createPublicKey(world.simulator.atPublicKeyPem);
const header = (more: object = {}) =>
  securityHeader({
    ...s.credentials,
    atPublicKey: atPublicKey(),
    now: world.clock,
    sessionKey: randomBytes(16),
    ...more,
  });
const listing = (security: string) => envelope(security, bodies.listSeries({}));
const codeOf = (reply: string) =>
  /<(?:Code|faultcode|codResultOper|ReturnCode)>([^<]*)</.exec(
    reply.replace(/<faultcode>Client.Authentication<\/faultcode>/, ''),
  )?.[1];
const element = (name: string, value: string) => (xml: string) =>
  xml.replace(new RegExp(`<wss:${name}>[^<]*<`), `<wss:${name}>${value}<`);

describe('client certificate', () => {
  it('is required and must be the one that was issued', async () => {
    await expect(send(listing(header()), { cert: undefined, key: undefined })).rejects.toThrow();
    const stranger = await openAtWorld();
    const { certPem, keyPem } = stranger.simulator.clientCertificate;
    await expect(send(listing(header()), { cert: certPem, key: keyPem })).rejects.toThrow();
    // A gateway that trusts another CA sends nothing.
    const mistrustful = world.gatewayWith({
      tls: { ...world.simulator.clientCertificate, caPem: stranger.simulator.caPem },
    });
    expect(await mistrustful.listSeries(s.credentials, {})).toMatchObject({
      kind: 'unknown',
      sent: false,
      problem: expect.stringMatching(/^TLS/),
    });
    const uninvited = world.gatewayWith({ tls: { certPem, keyPem, caPem: world.simulator.caPem } });
    expect(await uninvited.listSeries(s.credentials, {})).toMatchObject({ kind: 'unknown' });
    await stranger.close();
    expect(codeOf(await send(listing(header())))).toBe('2002');
  });
});

describe('header', () => {
  it.each([
    ['untouched', (xml: string) => xml, '2002'],
    ['no user', element('Username', ''), '1'],
    ['a short user', element('Username', '500000000'), '2'],
    ['a NIF with a wrong check digit', element('Username', '500000001/1'), '3'],
    ['a user without a slash', element('Username', '500000000x1'), '4'],
    ['a sub-user that is no number', element('Username', '500000000/a'), '5'],
    ['no password', element('Password', ''), '6'],
    ['a password that is no Base64', element('Password', 'ä'), '7'],
    ['a nonce that is no Base64', element('Nonce', '***='), '7'],
    ['a nonce of another length', element('Nonce', 'AAAA'), '8'],
    [
      'a nonce of chance',
      (xml: string) => element('Nonce', Buffer.concat([Buffer.of(0), randomBytes(255)]).toString('base64'))(xml),
      '8',
    ],
    ['no nonce', element('Nonce', ''), '20'],
    ['no time', element('Created', ''), '19'],
    ['a time that cannot be read', element('Created', 'AAAAAAAAAAAAAAAAAAAAAA=='), '16'],
    ['a password that cannot be read', element('Password', 'AAAAAAAAAAAAAAAAAAAAAA=='), '17'],
    ['no token', () => '', '33'],
    ['two tokens', (xml: string) => xml + xml, '33'],
    ['another namespace', (xml: string) => xml.replace('2002/12', '2003/12'), '33'],
  ])('%s', async (_name, tamper, code) => {
    expect(codeOf(await send(listing(tamper(header()))))).toBe(code);
  });

  it('a key wrapped for someone else, of another size, a time in another form', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
    expect(codeOf(await send(listing(header({ atPublicKey: other.publicKey }))))).toBe('8');
    const short = publicEncrypt({ key: atPublicKey(), padding: constants.RSA_PKCS1_PADDING }, randomBytes(15)).toString(
      'base64',
    );
    expect(codeOf(await send(listing(element('Nonce', short)(header()))))).toBe('11');
    const sessionKey = randomBytes(16);
    expect(codeOf(await send(listing(element('Created', encrypt(sessionKey, 'hoje'))(header({ sessionKey })))))).toBe(
      '9',
    );
  });

  it('a flipped bit anywhere is noticed', async () => {
    for (const name of ['Password', 'Nonce', 'Created']) {
      const xml = header();
      const value = new RegExp(`<wss:${name}>([^<]*)<`).exec(xml)![1]!;
      const bytes = Buffer.from(value, 'base64');
      bytes[bytes.length - 1]! ^= 1;
      expect(Number(codeOf(await send(listing(element(name, bytes.toString('base64'))(xml)))))).toBeLessThan(100);
    }
  });
});

describe('time and repetition', () => {
  it('a request of five minutes passes, an older or earlier one does not', async () => {
    const shifted = (seconds: number) => header({ now: new Date(world.clock.getTime() + seconds * 1000) });
    expect(codeOf(await send(listing(shifted(-299))))).toBe('2002');
    expect(codeOf(await send(listing(shifted(299))))).toBe('2002');
    expect(codeOf(await send(listing(shifted(-301))))).toBe('10');
    expect(codeOf(await send(listing(shifted(301))))).toBe('10');
    const slow = world.gatewayWith({ now: () => new Date(world.clock.getTime() - 400_000) });
    expect(await slow.listSeries(s.credentials, {})).toMatchObject({
      kind: 'unknown',
      problem: expect.stringContaining('10'),
    });
  });

  it('the same request twice is refused, and so is the same key in another wrapping', async () => {
    const sessionKey = randomBytes(16);
    const xml = listing(header({ sessionKey }));
    expect(codeOf(await send(xml))).toBe('2002');
    expect(codeOf(await send(xml))).toBe('12');
    expect(codeOf(await send(listing(header({ sessionKey }))))).toBe('12');
    const transport = envelope(header({ sessionKey }), bodies.reportTransport(s.transport()));
    const action = '"https://servicos.portaldasfinancas.gov.pt/sgdtws/documentosTransporte/"';
    expect(codeOf(await send(transport, {}, '/sgdtws/documentosTransporte', action))).toBe('13');
    const stuck = world.gatewayWith({ randomBytes: () => sessionKey });
    expect(await stuck.listSeries(s.credentials, {})).toMatchObject({
      kind: 'unknown',
      problem: expect.stringContaining('12'),
    });
  });

  it('remembers keys for as long as their time could pass, within bounds', () => {
    const keys = recentKeys(3);
    const key = (n: number) => Buffer.alloc(16, n);
    expect(keys.add(key(1), 0)).toBe(true);
    expect(keys.add(key(1), 599_000)).toBe(false);
    expect(keys.add(key(2), 601_000)).toBe(true);
    expect(keys.add(key(1), 602_000)).toBe(false);
    expect(keys.add(key(3), 1_300_000)).toBe(true);
    expect(keys.add(key(1), 1_300_001)).toBe(true);
    expect(keys.add(key(2), 1_300_002)).toBe(false);
    for (let n = 10; n < 200; n += 1) keys.add(key(n), 1_300_003);
    expect(keys.add(key(199), 1_300_004)).toBe(false);
    expect(keys.add(key(10), 1_300_005)).toBe(true);
  });
});

describe('passwords', () => {
  it('a wrong one is 99 and stops; an account that is known must match', async () => {
    expect(await world.gateway.listSeries({ ...s.credentials, password: 'wrong-password' }, {})).toMatchObject({
      kind: 'refused',
      code: '99',
      reason: 'credentials',
    });
    const other = { username: '511234562/2', password: 'certa' };
    expect(await world.control('PUT', '/__accounts', { '511234562/2': 'certa' })).toEqual({
      accounts: ['511234562/2'],
    });
    expect(await world.gateway.listSeries(other, {})).toMatchObject({ kind: 'done' });
    expect(await world.gateway.listSeries({ ...other, password: 'outra' }, {})).toMatchObject({
      kind: 'refused',
      code: '99',
    });
    await world.control('PUT', '/__accounts', { '511234562/2': null });
    expect(await world.gateway.listSeries({ ...other, password: 'outra' }, {})).toMatchObject({ kind: 'done' });
    expect(await world.gateway.listSeries({ ...other, password: '' }, {})).toMatchObject({
      kind: 'refused',
      code: '6',
      reason: 'credentials',
    });
  });
});

describe('requests that are none', () => {
  it.each([
    ['no XML', 'hello', '/SeriesWSService', '""'],
    ['a document type', `<!DOCTYPE x>${listing('')}`, '/SeriesWSService', '""'],
    ['another path', listing(''), '/nowhere', '""'],
    ['another service', listing(''), '/fatcorews/ws/', '""'],
    ['no action', envelope('', bodies.reportTransport(s.transport())), '/sgdtws/documentosTransporte', '""'],
  ])('%s', async (_name, body, path, action) => {
    expect(codeOf(await send(body, {}, path, action))).toBe('33');
  });

  it('a body that breaks the schema', async () => {
    const broken = envelope(header(), bodies.listSeries({}).replace('</ns2', '<estado>AA</estado></ns2'));
    expect(codeOf(await send(broken))).toBe('4000');
    const invoice = (tamper: (xml: string) => string) =>
      envelope(header(), tamper(bodies.reportInvoice(s.sales('INVOICE'))));
    const missing = await send(
      invoice((xml) => xml.replace(/<doc:ATCUD>.*?<\/doc:ATCUD>/, '')),
      {},
      '/fatcorews/ws/',
    );
    expect(missing).toContain('<CodigoResposta>-50<');
    expect(
      codeOf(
        await send(
          invoice((xml) => xml.replace('>C<', '>X<')),
          {},
          '/fatcorews/ws/',
        ),
      ),
    ).toBe('33');
  });
});
