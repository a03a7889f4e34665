/** The QR code of a reply as browsers show it, however a page of somebody else's takes it in. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import chromiumPackage from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { qrDataUri } from '../../src/print/qr.ts';
import { pictureOf } from './picture.ts';

const wasmBinary = new Uint8Array(
  readFileSync(createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm')),
).buffer;
prepareZXingModule({ overrides: { wasmBinary } });

const message = 'A:500000000*B:123456789*C:PT*D:FR*E:N*F:20260306*G:FR A2026/1*H:AAJFF6XZ-1*O:1230.00*Q:jwwQ*R:9999';
const address = qrDataUri(message);
const side = 'width: 244px; height: 244px';
let browser: Browser;

beforeAll(async () => {
  const args = ['--no-sandbox', '--disable-gpu'];
  browser = await chromium.launch({ executablePath: await chromiumPackage.executablePath(), args });
});

afterAll(() => browser?.close());

test.each([
  `<img id="qr" style="${side}" src="${address}">`,
  `<img id='qr' style='${side}' src='${address}'>`,
  `<style>#qr { ${side}; background: url(${address}) }</style><div id="qr"></div>`,
])('the data address is read from the page as it stands: %.30s', async (html) => {
  const page = await browser.newPage();
  await page.setContent(html);
  const picture = await pictureOf(page.locator('#qr'));
  const [found] = await readBarcodes(new Uint8Array(picture), { formats: ['QRCode'] });
  expect(found?.text).toBe(message);
  await page.close();
});
