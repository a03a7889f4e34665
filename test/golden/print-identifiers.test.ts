/** What identifies stands on paper sign by sign, wherever its line ends: Portuguese repeats hyphens, a number may not. */
import { afterAll, describe, expect, test } from 'vitest';
import type { PrintInput } from '../../src/print/input.ts';
import { openPrint } from '../../src/print/print.ts';
import { openPdf, pagesOf, piecesOf, rightEdgeOf } from './print-reading.ts';
import { line, sample, samples } from './print-samples.ts';

const print = openPrint({ workers: 0 });
afterAll(print.close);

const formats = ['A4', 'RECEIPT', 'RECEIPT_58'] as const;
/** The longest series (35 characters), with places to break and without. */
const series = ['LOJA-CENTRO-COMERCIAL-COLOMBO-2026-A', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ-ABCDEFGH', 'W'.repeat(35)].map(
  (one) => one.slice(0, 35),
);

const numbered = (input: PrintInput, code: string, name: string): PrintInput => ({
  ...input,
  issued: { ...input.issued, number: `${code} ${name}/1234567` },
});

/** Each page in its reading order, without white space; and what stands where. */
async function pressed(input: PrintInput) {
  const document = await openPdf(await print.render(input));
  const pages = await Promise.all(
    (await pagesOf(document)).map(async (page) => {
      const pieces = await piecesOf(page);
      const text = pieces.map((piece) => piece.text.replace(/\s/g, '')).join('');
      return { text, pieces, edge: rightEdgeOf(page, input.format) };
    }),
  );
  await document.destroy();
  return pages;
}

describe.each(formats)('%s', (format) => {
  test('places to break at are in no text: every letter is read, wherever else it stands', async () => {
    const input = samples.invoice();
    // A "j" that is printed for the first time, somewhere around the end of a line.
    for (const before of [44, 45, 46, 47, 60, 61, 62, 63, 64, 65, 66]) {
      const website = `${'i'.repeat(before)}j${'i'.repeat(50)}`;
      const issuer = { ...input.content.issuer, website };
      const [page] = await pressed({ ...input, format, content: { ...input.content, issuer } });
      expect(page!.text).toContain(website);
      expect(page!.text).toContain('jwwQ-Processado');
    }
  });

  test.each(series)('the number of a series %s, on every page and within its margins', async (name) => {
    const input = numbered({ ...samples.long(40), format }, 'FT', name);
    for (const { text, pieces, edge } of await pressed(input)) {
      expect(text.split(`FT${name}/1234567`).length).toBeGreaterThan(1);
      expect(text).not.toContain('--');
      for (const piece of pieces) expect(piece.x + piece.width, piece.text).toBeLessThan(edge);
    }
  });

  test('the number of what is corrected, converted or settled', async () => {
    const [number] = series.map((name) => `FT ${name}/1234567`);
    const note = samples.creditNote();
    const converted = samples.converted();
    const receipt = samples.receiptWithheld();
    const inputs = [
      { ...note, content: { ...note.content, parent: { ...note.content.parent!, number: number! } } },
      { ...converted, content: { ...converted.content, origin: { ...converted.content.origin!, number: number! } } },
      {
        ...receipt,
        content: {
          ...receipt.content,
          settles: receipt.content.settles!.map((one) => ({ ...one, document: { ...one.document, number: number! } })),
        },
      },
    ];
    for (const input of inputs) {
      const [page] = await pressed({ ...input, format });
      expect(page!.text).toContain(number!.replace(' ', ''));
      expect(page!.text).not.toContain('--');
    }
  });

  test('addresses of mail and pages', async () => {
    const input = samples.invoice();
    const email = 'contas.a.receber-e-a-pagar@sociedade-de-comercializacao-de-equipamentos.pt';
    const website = 'https://www.comercializacao-distribuicao-equipamentos-hoteleiros.pt/loja';
    const [page] = await pressed({
      ...input,
      format,
      content: { ...input.content, issuer: { ...input.content.issuer, email, website } },
    });
    expect(page!.text).toContain(email);
    expect(page!.text).toContain(website);
  });

  test('what refers to something, in the words of whoever writes', async () => {
    const named = [
      'CF259-XX-2026-PT-LOJA',
      'encomendas-e-apoio@livraria-do-rossio-de-lisboa.example',
      'www.livraria-do-rossio-de-lisboa.example/condicoes-gerais-de-venda',
      'A-12-B-77-C-2026-LOTE-DE-PORTO',
    ];
    // Each in a place of its own on the line, so that some break at each hyphen.
    const text = Array.from({ length: 12 }, (_, index) => `${'i'.repeat(index + 1)} ${named.join(' ')}`).join(' ');
    const input = sample({
      lines: [line({ name: text.slice(0, 200), description: text, unitPrice: '1' })],
      content: { description: text, notes: text },
      style: { footer: text },
    });
    for (const { text: printed } of await pressed({ ...input, format })) expect(printed).not.toContain('--');
  });
});
