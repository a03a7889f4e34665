/** What Noto Sans lacks: Han, kana and signs print in a second font, which only documents that need it have. */
import { afterAll, describe, expect, test } from 'vitest';
import type { PrintInput } from '../../src/print/input.ts';
import { openPrint } from '../../src/print/print.ts';
import { openPdf, pagesOf, piecesOf, rightEdgeOf, textOf } from './print-reading.ts';
import { line, sample, samples } from './print-samples.ts';

const print = openPrint({ workers: 0 });
afterAll(print.close);

const formats = ['A4', 'RECEIPT', 'RECEIPT_58'] as const;
const { customer } = samples.invoice().content;
const sold = (name: string, more: Partial<PrintInput> = {}): PrintInput => ({
  ...sample({ lines: [line({ name, unitPrice: '12.50' })], content: { customer: { ...customer, name } } }),
  ...more,
});

describe.each(formats)('%s', (format) => {
  test.each(['张伟贸易有限公司', '龍門飯店', 'さくら商店', 'Tubo ≥ 40 mm → DN50 ✓ ★'])(
    '%s prints as it is',
    async (name) => {
      const text = await textOf(await print.render(sold(name, { format })));
      expect(text.split(name).length).toBeGreaterThan(2);
      expect(text).not.toContain('\ufffd');
    },
  );

  test('however long a name without spaces is, it keeps within the margins', async () => {
    const long = sold('里斯本贸易有限公司'.repeat(11), { format });
    const document = await openPdf(await print.render(long));
    for (const page of await pagesOf(document))
      for (const { x, width, text } of await piecesOf(page))
        expect(x + width, text).toBeLessThan(rightEdgeOf(page, format));
    await document.destroy();
  });
});

test('the file is PDF/A-3a and has the same bytes each time, whatever was printed before', async () => {
  const [plain, han] = [samples.invoice(), sold('张伟')];
  const [first, second] = [await print.render(han), await print.render(plain)];
  const other = openPrint({ workers: 0 });
  const [plainElsewhere, hanElsewhere] = [await other.render(plain), await other.render(han)];
  await other.close();
  expect(Buffer.compare(first, hanElsewhere)).toBe(0);
  expect(Buffer.compare(second, plainElsewhere)).toBe(0);
  const document = await openPdf(first);
  const { metadata } = await document.getMetadata();
  expect([metadata?.get('pdfaid:part'), metadata?.get('pdfaid:conformance')]).toEqual(['3', 'A']);
  await document.destroy();
});

test('a logo stands on such a document too', async () => {
  const logo = new TextEncoder().encode(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"><path d="M0 0h4v2H0z"/></svg>',
  );
  const plain = await print.render(sold('张伟'));
  expect(Buffer.compare(await print.render(sold('张伟', { style: { logo } })), plain)).not.toBe(0);
  expect(Buffer.compare(await print.render(sold('张伟')), plain)).toBe(0);
});

test('what neither font has prints as U+FFFD, one for one', async () => {
  expect(await textOf(await print.render(sold('张 😀 متجر')))).toContain('张 \ufffd \ufffd\ufffd\ufffd\ufffd');
});
