/** The pages for people in a real browser: they load nothing from elsewhere, fit a phone, and can be read in both themes. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromiumPackage from '@sparticuz/chromium';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildServer } from '../../src/doors/http/server.ts';
import { AddressLimit } from '../../src/engine/address-limit.ts';
import { Press } from '../../src/engine/press.ts';
import { fixedMinuteRate } from '../../src/engine/rate.ts';
import { openSpool } from '../../src/engine/spool.ts';
import { booksSeal, masterKey } from '../../src/keys/sealing.ts';
import { generateSigningKey, localSigner } from '../../src/keys/signer.ts';
import { operations } from '../../src/operations/all.ts';
import { Memory } from '../../src/operations/memory.ts';
import { openPrint } from '../../src/print/print.ts';
import { type TestDatabase, testDatabase } from '../database.ts';
import { contrastFaults } from './contrast.ts';
import { pictureOf } from './picture.ts';

const pictures = new URL('../../artifacts/pages/', import.meta.url);
const paths = ['/', '/docs', '/docs/errors', '/docs/readiness'] as const;
const themes = ['light', 'dark'] as const;
const widths = [1280, 360] as const;

let database: TestDatabase;
let server: FastifyInstance;
let origin: string;
let directory: string;
let browser: Browser;

beforeAll(async () => {
  database = await testDatabase();
  const off = fixedMinuteRate(0, () => 0);
  const world = {
    newId: randomUUID,
    signer: () => localSigner(generateSigningKey().privatePem, 1),
    renewSigner: () => Promise.resolve(),
    seal: booksSeal(masterKey(randomBytes(32))),
    master: masterKey(randomBytes(32)),
    print: openPrint(),
    baseUrl: 'https://certo.example',
    atMode: 'simulator' as const,
    certificateNumber: 9999,
    longReads: database.db,
    program: { producerTaxId: '999999990', productId: 'Certo/Certo', version: '1', certificateNumber: 9999 },
    memory: new Memory(() => performance.now()),
    nudgeReports: () => undefined,
  };
  directory = mkdtempSync(join(realpathSync(tmpdir()), 'certo-docs-'));
  const spool = await openSpool({ directory, perCompany: 1, writing: 1, together: 1 });
  server = await buildServer({
    corridor: { db: database.db, world, keyRate: off, spool, press: new Press(database.db, world, () => undefined) },
    addressLimit: new AddressLimit(0, Date.now),
    trustedProxies: [],
    log: pino({ level: 'silent' }),
    observe: () => undefined,
    deadline_ms: 60_000,
    publicKeys: async () => [],
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  origin = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  // Not the package's own arguments: they make one process of it, which ends with its first page, and switch off web
  // security; what is tested is a browser as people have it. As root there is no sandbox.
  const args = ['--no-sandbox', '--disable-gpu'];
  browser = await chromium.launch({ executablePath: await chromiumPackage.executablePath(), args });
  mkdirSync(pictures, { recursive: true });
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  await database?.drop();
  rmSync(directory, { recursive: true, force: true });
});

interface Visit {
  readonly page: Page;
  /** Requests that would have left this service; they were stopped. */
  readonly outside: string[];
  /** What the browser complained about: script errors, policy violations, failed loads. */
  readonly complaints: string[];
}

async function visit(
  path: string,
  how: { theme?: 'light' | 'dark'; width?: number; locale?: string } = {},
): Promise<Visit> {
  const { theme = 'light', width = 1280, locale = 'en-GB' } = how;
  const page = await browser.newPage({ colorScheme: theme, viewport: { width, height: 900 }, locale });
  const outside: string[] = [];
  const complaints: string[] = [];
  await page.route('**/*', (route) => {
    const url = route.request().url();
    if (new URL(url).origin === origin || url.startsWith('data:')) return route.continue();
    outside.push(url);
    return route.abort();
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  await page.goto(origin + path, { waitUntil: 'load' });
  if (path.startsWith('/docs') && !path.startsWith('/docs/')) await page.waitForSelector('.opblock');
  await page.evaluate(() => document.fonts.ready);
  return { page, outside, complaints };
}

describe.each(paths)('%s', (path) => {
  test.each(themes.flatMap((theme) => widths.map((width) => [theme, width] as const)))(
    '%s at %i px',
    async (theme, width) => {
      const { page, outside, complaints } = await visit(path, { theme, width });
      const name = `${path === '/' ? 'landing' : path.slice(1).replace('/', '-')}-${theme}-${width}`;
      const whole = path !== '/docs/errors';
      await pictureOf(page, { path: new URL(`${name}.png`, pictures).pathname, fullPage: whole });
      expect(outside).toEqual([]);
      expect(complaints).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      expect(await page.evaluate(contrastFaults)).toEqual([]);
      expect(await page.evaluate(() => document.fonts.check('16px "Noto Sans"', 'ção €'))).toBe(true);
      await page.close();
    },
  );
});

describe('the reference, at work', () => {
  test.each(themes.flatMap((theme) => widths.map((width) => [theme, width] as const)))(
    '%s at %i px',
    async (theme, width) => {
      const { page, outside, complaints } = await visit('/docs', { theme, width });
      const picture = (name: string) =>
        pictureOf(page, { path: new URL(`docs-${name}-${theme}-${width}.png`, pictures).pathname });
      await page.click('.btn.authorize');
      await page.waitForSelector('.modal-ux');
      await picture('key');
      expect(await page.evaluate(contrastFaults)).toEqual([]);
      await page.fill('.modal-ux input', 'svc_sk_wrong');
      await page.click('.modal-ux .btn.authorize');
      await page.click('.modal-ux .btn-done');

      await page.click('#operations-Company-getCompany .opblock-summary-control');
      await page.click('#operations-Company-getCompany .try-out__btn');
      await page.click('#operations-Company-getCompany .execute');
      await page.waitForSelector('#operations-Company-getCompany .live-responses-table .response');
      const answer = await page.textContent('#operations-Company-getCompany .live-responses-table');
      expect(answer).toContain('UNAUTHENTICATED');
      await page.locator('#operations-Company-getCompany').scrollIntoViewIfNeeded();
      await picture('answer');

      await page.click('#operations-Invoices-createDraft .opblock-summary-control');
      await page.waitForSelector('#operations-Invoices-createDraft .opblock-body');
      await page.locator('#operations-Invoices-createDraft').scrollIntoViewIfNeeded();
      await picture('operation');
      for (const tab of await page.locator('#operations-Invoices-createDraft .tablinks[data-name="model"]').all())
        await tab.click();
      await picture('schema');
      expect(await page.evaluate(contrastFaults)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      expect(outside).toEqual([]);
      // The browser itself notes the 401 that was asked for.
      expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
      await page.close();
    },
  );
});

test('the address of a problem opens its code', async () => {
  const { page } = await visit('/docs/errors#DRAFT_CHANGED');
  const place = await page.evaluate(() => {
    const target = document.querySelector(':target')!;
    return { id: target.id, top: target.getBoundingClientRect().top, height: innerHeight };
  });
  expect(place.id).toBe('DRAFT_CHANGED');
  expect(place.top).toBeGreaterThan(0);
  expect(place.top).toBeLessThan(place.height / 2);
  await page.close();
});

test('the landing page speaks Portuguese to who asks for it', async () => {
  const { page } = await visit('/', { locale: 'pt-PT' });
  expect(await page.textContent('.button')).toBe('Abrir a referência');
  await pictureOf(page, { path: new URL('landing-pt.png', pictures).pathname });
  await page.close();
});

test.each(paths)('%s allows the browser nothing but this service', async (path) => {
  const response = await server.inject({ url: path, headers: { accept: 'text/html' } });
  expect(response.statusCode).toBe(200);
  const policy = String(response.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy.replace(/'none'|'self'|data:/g, '')).not.toMatch(/['*:]|unsafe/);
});

test('each operation stands in the reference', async () => {
  const { page } = await visit('/docs');
  for (const operation of operations) {
    const tag = operation.tag.replaceAll(' ', '_');
    expect(await page.locator(`#operations-${tag}-${operation.name}`).count(), operation.name).toBe(1);
  }
  await page.close();
});
