/** Till rolls: what stands on 80 and 58 mm, nothing over the edge, and a QR code of its lawful size. */
import { afterAll, describe, expect, test } from 'vitest';
import type { PrintInput } from '../../src/print/input.ts';
import { rolls } from '../../src/print/paper-roll.ts';
import { openPrint } from '../../src/print/print.ts';
import { linesOf, openPdf, pagesOf, piecesOf, qrCodesOf, textOf } from './print-reading.ts';
import { line, sample, samples } from './print-samples.ts';

const print = openPrint({ workers: 0 });
afterAll(print.close);

const formats = ['RECEIPT', 'RECEIPT_58'] as const;
const millimetre = 72 / 25.4;
const widths = { RECEIPT: 80 * millimetre, RECEIPT_58: 58 * millimetre };
const margins = { RECEIPT: 4 * millimetre, RECEIPT_58: 5 * millimetre };

const names = [
  'invoice',
  'mixed',
  'invoiceReceipt',
  'creditNote',
  'debitNote',
  'foreign',
  'consumer',
  'cancelled',
  'receipt',
  'receiptWithheld',
  'receiptCashVat',
  'receiptForeign',
  'proForma',
  'cashVat',
  'training',
  'recovered',
  'converted',
  'transport',
  'transportFurther',
  'transportValued',
] as const;

async function reading<T>(
  input: PrintInput,
  read: (pages: Awaited<ReturnType<typeof pagesOf>>) => Promise<T>,
): Promise<T> {
  const document = await openPdf(await print.render(input));
  const result = await read(await pagesOf(document));
  await document.destroy();
  return result;
}

describe.each(formats)('%s', (format) => {
  test('the text of every kind of document', async () => {
    let all = '';
    for (const name of names) {
      const text = await textOf(await print.render({ ...samples[name](), format }));
      all += text.replace('── page 1 ──', `══ ${name} ══`);
    }
    await expect(all).toMatchFileSnapshot(`print-${format}.txt`);
  });

  test.each(names)('%s says all that A4 says', async (name) => {
    const input = samples[name]();
    const words = (text: string) => new Set(text.match(/[\p{L}\d.,/:-]{2,}/gu));
    const onPaper = words(await textOf(await print.render(input)));
    const onRoll = words(await textOf(await print.render({ ...input, format })));
    // Of a table's heads a roll needs only two, and it has no pages.
    const heads =
      /^(── page|page|Página|Page|of|Qtd\.|Preço|unit\.|Qty|Unit|price|Data|Date|Valor|liquidado|Amount|settled|1|de)$/;
    expect([...onPaper].filter((word) => !onRoll.has(word) && !heads.test(word))).toEqual([]);
  });

  test('nothing stands over the margins or into other text', async () => {
    const long = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ-'.repeat(3);
    const foreign = samples.foreign();
    const endless: PrintInput = {
      ...foreign,
      content: {
        ...foreign.content,
        customer: { ...foreign.content.customer, name: long, address: long },
        issuer: { ...foreign.content.issuer, name: long, email: `${long}@exemplo.pt` },
        payment: { method: long },
        notes: long.repeat(3),
      },
      issued: { ...foreign.issued, number: 'FT ABCDEFGHIJKLMNOPQRSTUVWXYZ-ABCDEFGH/123456789' },
      style: { footer: long },
    };
    const inputs = [samples.hostile(), samples.huge(), samples.mixed(), samples.receiptForeign(), endless];
    for (const input of inputs) {
      await reading({ ...input, format }, async ([page]) => {
        const [, , width] = page.view as [number, number, number];
        expect(width).toBeCloseTo(widths[format], 1);
        const pieces = await piecesOf(page);
        for (const { x, width: wide, text } of pieces) {
          expect(x, text).toBeGreaterThan(margins[format] - 0.5);
          expect(x + wide, text).toBeLessThan(width - margins[format] + 0.5);
        }
        const inOrder = pieces.toSorted((a, b) => Math.round(b.y) - Math.round(a.y) || a.x - b.x);
        for (const [index, piece] of inOrder.slice(1).entries()) {
          const before = inOrder[index]!;
          if (Math.round(before.y) !== Math.round(piece.y)) continue;
          expect(piece.x - (before.x + before.width), `${before.text} | ${piece.text}`).toBeGreaterThan(-0.5);
        }
      });
    }
  });

  test('a name stands as far above its terms however many lines these take, and none is in another', async () => {
    const percent = { type: 'PERCENT', value: '8.8' } as const;
    const input = sample({
      lines: [
        line({ name: 'Página simples', unitPrice: '3' }),
        line({ name: 'Preçário', unitPrice: '1234.567891', quantity: '100', discount: percent }),
      ],
      content: { globalDiscount: { type: 'PERCENT', value: '10' } },
      language: 'en',
    });
    const { body, small } = rolls[format];
    await reading({ ...input, format }, async ([page]) => {
      const pieces = await piecesOf(page);
      const place = (start: string) => pieces.findIndex(({ text }) => text.startsWith(start));
      const above = (start: string) => pieces[place(start)]!.y - pieces[place(start) + 1]!.y - 0.714 * small;
      expect(above('Preçário')).toBeGreaterThanOrEqual(body / 2);
      expect(above('Preçário')).toBeCloseTo(above('Página simples'));
      // Two lines of terms at least.
      const later = pieces.slice(place('Preçário') + 2).find(({ text }) => text.startsWith('IVA / VAT'))!;
      expect(pieces[place('Preçário') + 1]!.y - later.y).toBeGreaterThan(small);
    });
  });

  test.each(['invoice', 'receipt', 'transport', 'cancelled'] as const)(
    '%s: the QR code says what is stored, measures 30 mm, has white around it and the ATCUD above',
    async (name) => {
      const input = { ...samples[name](), format };
      await reading(input, async ([page]) => {
        const [code] = await qrCodesOf(page);
        expect(code).toMatchObject({ text: input.issued.qr, ecLevel: 'M', version: '9' });
        expect(code!.width / millimetre).toBeGreaterThanOrEqual(30);
        expect(code!.height / millimetre).toBeGreaterThanOrEqual(30);
        const pieces = await piecesOf(page);
        const above = pieces.filter(({ y }) => y > code!.top).sort((a, b) => a.y - b.y)[0]!;
        expect(above.text).toBe(`ATCUD:${input.issued.atcud}`);
        const quiet = 2.5 * millimetre;
        expect(above.y - code!.top).toBeGreaterThan(quiet);
        const below = pieces.filter(({ y }) => y < code!.top - code!.height).sort((a, b) => b.y - a.y)[0]!;
        expect(code!.top - code!.height - below.y).toBeGreaterThan(quiet);
        expect(code!.left).toBeGreaterThan(quiet);
        expect(widths[format] - code!.left - code!.width).toBeGreaterThan(quiet);
        // In the middle, to half a millimetre.
        expect(Math.abs(code!.left + code!.width / 2 - widths[format] / 2)).toBeLessThan(millimetre / 2);
      });
    },
  );

  test('the longest QR code stays on the paper and readable', async () => {
    const invoice = samples.invoice();
    const qr = `A:123456789*B:999999990*C:PT*D:FT*E:N*F:20191231*${'I1:PT*I2:12000.00*'.repeat(24)}`.slice(0, 452);
    await reading({ ...invoice, format, issued: { ...invoice.issued, qr } }, async ([page]) => {
      const [code] = await qrCodesOf(page);
      expect(code).toMatchObject({ text: qr, version: '17' });
      expect(code!.width / millimetre).toBeGreaterThan(47);
      expect(code!.left).toBeGreaterThan(2.5 * millimetre);
      expect(widths[format] - code!.left - code!.width).toBeGreaterThan(2.5 * millimetre);
    });
  });

  test('is one page as long as its content; more lines than a page may hold go on with the sum carried', async () => {
    const count = (lines: number) => ({ ...samples.long(lines), format });
    const short = await reading(count(3), async (pages) => pages.map(({ view }) => view[3]!));
    const longer = await reading(count(30), async (pages) => pages.map(({ view }) => view[3]!));
    expect([short.length, longer.length]).toEqual([1, 1]);
    expect(longer[0]! - short[0]!).toBeGreaterThan(27 * 20);
    await reading(count(700), async (pages) => {
      expect(pages.length).toBeGreaterThan(1);
      const texts = await Promise.all(pages.map(linesOf));
      const sums = (word: string) => texts.map((all) => all.find((one) => one.startsWith(word))?.split(' | ')[1]);
      expect(sums('A transportar').slice(0, -1)).toEqual(sums('Transportado').slice(1));
      expect(sums('A transportar')[0]).toMatch(/^[\d ]+,\d\d €$/);
      expect(sums('A transportar').at(-1)).toBeUndefined();
      for (const [index, page] of pages.entries()) {
        // ISO 19005-3, 6.1.13.
        expect(page.view[3]).toBeLessThanOrEqual(14_400);
        const text = texts[index]!.join(' ');
        expect(text).toContain(`Página ${index + 1} de ${pages.length}`);
        expect(text).toContain('ATCUD:AAJFF6XZ-1');
        expect(text).toContain('programa certificado n.º 9999/AT');
        expect(text.includes('Total sem IVA')).toBe(index === pages.length - 1);
      }
    });
  });

  test('no page is longer than a PDF page may be, however many lines its texts have, and all of them is printed', async () => {
    const letters = 'abcdefghij';
    const text = (lines: number) => Array.from({ length: lines }, (_, index) => letters[index % 10]).join('\n');
    const asked = [
      { count: 1, lines: 1000, detail: 1000 },
      { count: 450, lines: 1000, detail: 0 },
      { count: 450, lines: 100, detail: 0 },
    ];
    for (const { count, lines, detail } of asked) {
      const input = sample({
        lines: Array.from({ length: count }, () => line({ name: '–', unitPrice: '1', description: text(detail) })),
        content: { description: text(lines), notes: text(lines) },
      });
      await reading({ ...input, format }, async (pages) => {
        // ISO 19005-3, 6.1.13.
        for (const page of pages) expect(page.view[3]).toBeLessThanOrEqual(14_400);
        const texts = await Promise.all(pages.map(linesOf));
        const said = texts.flat().join('').replace(/[\s·]/g, '');
        expect(said.split(letters.repeat(lines / 10)).length - 1).toBe(detail === 0 ? 2 : 3);
      });
    }
  });

  test('no page is too long of kinds of withholding either: beyond twenty they are one sum of each tax', async () => {
    const kinds = Array.from({ length: 900 }, (_, i) => ({
      type: (['IRC', 'IRS', 'IS'] as const)[i % 3]!,
      percent: `${1 + i / 100}`,
      reason: `artigo ${i} do código`,
    }));
    const printed = async (count: number) => {
      const lines = kinds.slice(0, count).map((withholding) => line({ name: '–', unitPrice: '100', withholding }));
      return await reading({ ...sample({ lines }), format }, async (pages) => {
        for (const page of pages) expect(page.view[3]).toBeLessThanOrEqual(14_400);
        return (await Promise.all(pages.map(linesOf))).flat();
      });
    };
    const withheld = (texts: readonly string[]) => texts.filter((one) => one.startsWith('Retenção na fonte'));
    const all = await printed(900);
    expect(withheld(all)).toEqual([
      'Retenção na fonte IRC | 1 645,50 €',
      'Retenção na fonte IRS | 1 648,50 €',
      'Retenção na fonte IS | 1 651,50 €',
    ]);
    expect(all).not.toContain('artigo 1 do código');
    const each = await printed(20);
    expect(withheld(each)).toHaveLength(20);
    expect(each).toContain('artigo 1 do código');
    expect(withheld(await printed(21))).toHaveLength(3);
  });

  test('what the paper says of itself stands on each page: cancelled, of no value, mentions, which copy', async () => {
    const { content, ...print } = samples.long(700);
    const input: PrintInput = {
      ...print,
      content: { ...content, training: true, cashVat: true },
      format,
      status: 'A',
      copy: 'Duplicado',
      environment: 'simulator',
    };
    await reading(input, async (pages) => {
      expect(pages.length).toBeGreaterThan(1);
      for (const page of pages) {
        const text = (await linesOf(page)).join(' ');
        for (const said of [
          'ANULADO',
          'Documento de simulação — sem validade fiscal',
          'Documento emitido para fins de Formação',
          'IVA - regime de caixa',
          'Duplicado',
        ])
          expect(text).toContain(said);
      }
    });
  });

  test('the number stands on each page, but on no first or last line', async () => {
    for (const input of [samples.training(), samples.receipt(), samples.transport(), samples.long(300)]) {
      await reading({ ...input, style: {}, format }, async (pages) => {
        for (const page of pages) {
          const lines = await linesOf(page);
          expect(lines.slice(1, -1).join()).toContain(input.issued.number);
          for (const edge of [lines[0], lines.at(-1)]) expect(edge).not.toMatch(/A2026\/|programa/);
        }
      });
    }
  });

  test('any text at all still prints', async () => {
    const name = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code * 7)).join('');
    const input = sample({ lines: [line({ name, unitPrice: '1', description: name })], content: { notes: name } });
    await expect(print.render({ ...input, format })).resolves.toBeDefined();
  });
});
