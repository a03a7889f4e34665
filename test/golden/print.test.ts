/** Issued documents on paper: what is printed, letter for letter, and the marks of an archival, accessible file. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import type { LineInput } from '../../src/fiscal/document.ts';
import type { PrintInput } from '../../src/print/input.ts';
import { openPrint } from '../../src/print/print.ts';
import { eventually } from '../eventually.ts';
import { chunk, pngFile } from '../png.ts';
import { linesOf, openPdf, pagesOf, piecesOf, qrCodesOf, textOf } from './print-reading.ts';
import { line, sample, samples } from './print-samples.ts';

const print = openPrint({ workers: 0 });
afterAll(print.close);

/** Opens the print of an input for one test. */
async function reading<T>(
  input: PrintInput,
  read: (pages: Awaited<ReturnType<typeof pagesOf>>) => Promise<T>,
): Promise<T> {
  const document = await openPdf(await print.render(input));
  const result = await read(await pagesOf(document));
  await document.destroy();
  return result;
}

const linesByPage = (input: PrintInput) => reading(input, (pages) => Promise.all(pages.map(linesOf)));

describe('the text of a paper', () => {
  const golden = [
    'invoice',
    'mixed',
    'invoiceReceipt',
    'creditNote',
    'foreign',
    'consumer',
    'cancelled',
    'receipt',
    'receiptWithheld',
    'receiptCashVat',
    'receiptForeign',
    'proForma',
    'debitNote',
    'cashVat',
    'training',
    'recovered',
    'converted',
    'transport',
    'transportFurther',
    'transportValued',
  ] as const;
  test.each(golden)('%s', async (name) => {
    await expect(await textOf(await print.render(samples[name]()))).toMatchFileSnapshot(`print-${name}.txt`);
  });
});

test('in English beside the Portuguese: labels, and what is carried from page to page', async () => {
  const [guide, plated, proForma] = [samples.transportValued(), samples.transport(), samples.proForma()];
  const inputs: PrintInput[] = [
    ...(['mixed', 'invoiceReceipt', 'debitNote', 'converted', 'receiptWithheld'] as const).map((name) =>
      samples[name](),
    ),
    {
      ...guide,
      content: { ...guide.content, transport: { ...plated.content.transport!, ...guide.content.transport! } },
    },
    { ...proForma, issued: { ...proForma.issued, date: '2026-02-20' } },
  ];
  let all = '';
  for (const input of inputs) all += await textOf(await print.render({ ...input, language: 'en' }));
  const pages = await linesByPage({ ...samples.long(30), language: 'en' });
  all += pages
    .flat()
    .filter((one) => /transportar|Transportado|Página/.test(one))
    .join('\n');
  await expect(all).toMatchFileSnapshot('print-english.txt');
});

describe('every signed document', () => {
  const signed = [
    'invoice',
    'mixed',
    'invoiceReceipt',
    'creditNote',
    'debitNote',
    'consumer',
    'proForma',
    'cancelled',
    'transport',
    'transportFurther',
    'transportValued',
    'cashVat',
    'training',
    'recovered',
  ] as const;

  test.each(signed)('%s: number, date, program, page, ATCUD', async (name) => {
    const input = samples[name]();
    const [lines] = await linesByPage(input);
    const text = lines.join('\n');
    expect(lines.at(-1)).toMatch(/Página 1 de 1$/);
    // Neither on the first nor on the last line of the page.
    const between = lines.slice(1, -1).flatMap((one) => one.split(' | '));
    expect(between).toContain('jwwQ-Processado por programa certificado n.º 9999/AT');
    expect(between).toContain(input.issued.number);
    expect([lines[0], lines.at(-1)].join()).not.toContain(input.issued.number);
    expect(lines).toContain(`ATCUD:${input.issued.atcud}`);
    expect(text).toContain(input.issued.number);
    expect(text).toContain('06-03-2026');
    // What stands for an original is none.
    if (name === 'recovered') expect(text).not.toContain('Original');
    else expect(between).toContain(input.copy);
    // No negative figure stands on a fiscal document.
    expect(text).not.toMatch(/(^|[\s|(])[-−] ?\d/m);
  });

  test('a receipt is emitted, not processed, and is no invoice', async () => {
    const [lines] = await linesByPage(samples.receipt());
    const between = lines.slice(1, -1).flatMap((one) => one.split(' | '));
    expect(between).toContain('Emitido por programa certificado n.º 9999/AT');
    expect(lines.join('\n')).not.toContain('Processado');
    expect(lines.join('\n')).toContain('Este documento não serve de fatura');
  });

  test('what can reach the client and is no invoice says so, and nothing else does', async () => {
    const say = async (name: keyof typeof samples) =>
      (await linesByPage(samples[name]())).flat().some((one) => one.includes('Este documento não serve de fatura'));
    for (const name of ['proForma', 'transport', 'transportValued', 'receiptCashVat'] as const)
      expect([name, await say(name)]).toEqual([name, true]);
    for (const name of ['creditNote', 'debitNote', 'consumer', 'training', 'recovered'] as const)
      expect([name, await say(name)]).toEqual([name, false]);
  });

  test('sales documents do not say that they are no invoices', async () => {
    const [lines] = await linesByPage(samples.invoice());
    expect(lines.join('\n')).not.toContain('não serve de fatura');
  });

  test('outside production the paper says so, on every page', async () => {
    const said = async (environment: PrintInput['environment']) =>
      (await linesByPage({ ...samples.long(40), environment })).map((lines) =>
        lines.flatMap((one) => one.split(' | ')).filter((one) => one.includes('sem validade fiscal')),
      );
    expect(await said('production')).toEqual([[], []]);
    expect(await said('test')).toEqual(Array(2).fill(['Documento de teste — sem validade fiscal']));
    expect(await said('simulator')).toEqual(Array(2).fill(['Documento de simulação — sem validade fiscal']));
  });

  test('what the paper says of itself stands on every page: mentions, and which copy it is', async () => {
    const { content, ...print } = samples.long(60);
    const said = async (more: Partial<PrintInput['content']>, copy: PrintInput['copy'], words: readonly string[]) => {
      const pages = await linesByPage({ ...print, content: { ...content, ...more }, copy });
      expect(pages.length).toBeGreaterThan(1);
      for (const lines of pages) for (const word of words) expect(lines.join('\n')).toContain(word);
    };
    await said({ training: true }, 'Duplicado', ['Documento emitido para fins de Formação', 'Duplicado']);
    await said({ type: 'GUIA_DE_TRANSPORTE' }, 'Original', ['Este documento não serve de fatura', 'Original']);
    await said({ type: 'GUIA_DE_TRANSPORTE' }, 'Cópia', [
      'Este documento não serve de fatura',
      'Cópia de documento não válida para os fins previstos',
    ]);
    await said({ cashVat: true, recovered: { kind: 'M', original: 'abc/00001' } }, '2.ª via', [
      'Cópia do documento original -FTM abc/00001',
      'IVA - regime de caixa',
      '2.ª via',
    ]);
  });

  test('the head of a further page has room for all that it says, below the band and above the lines', async () => {
    const { content, ...print } = samples.long(60);
    const name = 'Sociedade de Comercialização e Distribuição de Equipamentos Hoteleiros do Norte e Centro, Lda.';
    const original = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ-ABCDEFGH/123456789';
    const input: PrintInput = {
      ...print,
      content: {
        ...content,
        type: 'PROFORMA',
        issuer: { ...content.issuer, name },
        cashVat: true,
        recovered: { kind: 'M', original },
        lines: content.lines.map((one) => ({ ...one, net: '99999999999.99' })),
      },
      issued: { ...print.issued, number: `FT ${original}` },
      environment: 'simulator',
    };
    await reading(input, async (pages) => {
      for (const page of pages.slice(1)) {
        const pieces = await piecesOf(page);
        const heights = [...new Set(pieces.map(({ y }) => Math.round(y)))].sort((a, b) => b - a);
        const heads = Math.round(pieces.find(({ text }) => text === 'Descrição')!.y);
        expect(page.view[3]! - heights[0]!).toBeGreaterThan(25);
        const head = heights.filter((y) => y >= heads);
        expect(head.length).toBeGreaterThan(4);
        for (const [index, y] of head.slice(1).entries()) expect(head[index]! - y).toBeGreaterThanOrEqual(7);
        expect(head.at(-2)! - heads).toBeGreaterThan(20);
      }
    });
  });

  test('a cancelled document says so on every page', async () => {
    for (const lines of await linesByPage({ ...samples.long(40), status: 'A' }))
      expect(lines.join('\n')).toContain('ANULADO');
    for (const lines of await linesByPage(samples.long(40))) expect(lines.join('\n')).not.toContain('ANULADO');
  });
});

describe('the QR code', () => {
  test.each(['invoice', 'foreign', 'cancelled', 'receipt', 'huge'] as const)(
    '%s: decodes to the stored text',
    async (name) => {
      const input = samples[name]();
      const found = await reading(input, ([page]) => qrCodesOf(page));
      expect(found).toMatchObject([{ text: input.issued.qr, ecLevel: 'M', version: '9' }]);
    },
  );

  test('is at least 30 mm wide, with the ATCUD directly above', async () => {
    await reading(samples.invoice(), async ([page]) => {
      const [code] = await qrCodesOf(page);
      const millimetres = 25.4 / 72;
      expect(code.width * millimetres).toBeGreaterThanOrEqual(30);
      expect(code.height * millimetres).toBeGreaterThanOrEqual(30);
      const above = (await piecesOf(page)).filter(({ y }) => y > code.top).sort((a, b) => a.y - b.y)[0];
      expect(above.text).toBe('ATCUD:AAJFF6XZ-1');
      expect(above.y - code.top).toBeLessThan(5 / millimetres);
      expect(Math.abs(above.x - code.left)).toBeLessThan(2);
    });
  });

  test('grows with a long message: three regions, 452 characters, version 17', async () => {
    const qr =
      `A:123456789*B:999999990*C:PT*D:FT*E:N*F:20191231*G:FT AB2019/0035*H:CSDF7T5H-0035*${'I1:PT*I2:12000.00*'.repeat(21)}`.slice(
        0,
        452,
      );
    const input = samples.invoice();
    const found = await reading({ ...input, issued: { ...input.issued, qr } }, ([page]) => qrCodesOf(page));
    expect(found).toMatchObject([{ text: qr, version: '17' }]);
  });

  test('stands on the last page only', async () => {
    const counts = await reading(samples.long(40), (pages) =>
      Promise.all(pages.map(async (page) => (await qrCodesOf(page)).length)),
    );
    expect(counts).toEqual([0, 1]);
  });
});

describe('documents of many pages', () => {
  test('number, page of pages and ATCUD on each; totals on the last; sums carried over', async () => {
    const pages = await linesByPage(samples.long(300));
    expect(pages.length).toBeGreaterThan(8);
    pages.forEach((lines, index) => {
      const text = lines.join('\n');
      const isLast = index === pages.length - 1;
      expect(lines.slice(1, -1).filter((one) => one.includes('FT A2026/1')).length).toBe(2);
      for (const edge of [lines[0], lines.at(-1)]) expect(edge).not.toMatch(/FT A2026|programa/);
      expect(lines.at(-1)).toContain(`Página ${index + 1} de ${pages.length}`);
      expect(text).toContain('ATCUD:AAJFF6XZ-1');
      expect(text).toContain('jwwQ-Processado por programa certificado n.º 9999/AT');
      expect(/Total sem IVA|Taxa de IVA/.test(text)).toBe(isLast);
      expect(/A transportar/.test(text)).toBe(!isLast);
      expect(/Transportado/.test(text)).toBe(index > 0);
    });
    const carried = pages.slice(0, -1).map((lines) => sumAfter('A transportar', lines));
    const brought = pages.slice(1).map((lines) => sumAfter('Transportado', lines));
    expect(brought).toEqual(carried);
  });

  test('what is carried over is the sum of the lines printed so far', async () => {
    const [first] = await linesByPage(samples.long(60));
    const printed = first.flatMap((one) => /^Artigo de catálogo .* ([\d ]+,\d\d) €$/.exec(one)?.[1] ?? []);
    const cents = printed.reduce((sum, one) => sum + Number(one.replace(/[ ,]/g, '')), 0);
    expect(printed.length).toBeGreaterThan(10);
    expect(Number(sumAfter('A transportar', first).replace(/[ ,]/g, ''))).toBe(cents);
  });

  test('at least two lines stand on the page of the totals, under their heads', async () => {
    for (let count = 13; count <= 27; count++) {
      const last = (await linesByPage(samples.long(count))).at(-1)!;
      const lines = last.filter((one) => one.startsWith('Artigo de catálogo'));
      expect([count, lines.length >= 2, last.some((one) => one.startsWith('Descrição | Qtd.'))]).toEqual([
        count,
        true,
        true,
      ]);
      expect(lines.at(-1)).toContain(`n.º ${count} |`);
    }
  });

  test('the totals do not stand alone on a page: a line goes along, or the last of long notes', async () => {
    const items = (count: number, description?: string) =>
      Array.from({ length: count }, (_, index) => line({ name: `Artigo ${index + 1}`, unitPrice: '1', description }));
    const notesOf = (count: number) => Array.from({ length: count }, (_, index) => `Nota ${index + 1}`).join('\n');
    const paragraphs = 'As condições gerais aplicam-se a todos os fornecimentos; reclame em oito dias.\n\n'.repeat(30);
    const cases: [LineInput[], string | undefined, RegExp][] = [
      [items(3), notesOf(40), /^Nota 39$/],
      [items(9), notesOf(20), /^Nota 19$/],
      [items(2), paragraphs.slice(0, 2000), /^As condições/],
      [items(2, 'Pormenor\n'.repeat(18).trim()), undefined, /^Artigo 2 \|/],
      [items(4, 'Pormenor\n'.repeat(10).trim()), undefined, /^Artigo 4 \|/],
    ];
    for (const [lines, notes, first] of cases) {
      const pages = await linesByPage(sample({ lines, content: { notes } }));
      expect(pages.length).toBe(2);
      const said = pages[1]!.filter((one) => !/^(Oficina do Norte|Fatura|Descrição)/.test(one));
      expect(said[0]).toMatch(first);
      // What goes on as well: all of it, in order, and nothing of it twice.
      const all = pages.flat().filter((one) => /^(Nota|Artigo) \d/.test(one));
      expect(all.length).toBe(lines.length + (notes?.match(/^Nota /gm)?.length ?? 0));
    }
  });

  // Where the closing blocks just fit, just do not fit, and need a page of their own.
  test('totals and QR code keep together on the last page, whatever the number of lines', async () => {
    for (let count = 10; count <= 30; count++) {
      const pages = await linesByPage(samples.long(count));
      expect(pages.map((lines) => lines.some((one) => one.startsWith('Taxa de IVA')))).toEqual(
        pages.map((_, index) => index === pages.length - 1),
      );
      expect(pages.map((lines) => lines.includes('ATCUD:AAJFF6XZ-1'))).toEqual(
        pages.map((_, index) => index === pages.length - 1),
      );
    }
  });

  const sumAfter = (word: string, lines: readonly string[]) =>
    lines
      .map((one) => new RegExp(`${word} ?\\|? ([\\d ]+,\\d\\d) €`).exec(one)?.[1])
      .find((sum) => sum !== undefined) ?? 'none';
});

describe('hostile and unusual text', () => {
  test('signs of markup print literally', async () => {
    const text = await textOf(await print.render(samples.hostile()));
    const flat = text.replace(/\s+\|?\s*/g, ' ');
    for (const literal of [
      '#panic() *não* $x^2$ \\ [[a]]',
      '_sub_',
      '`raw` <label> "aspas" --- ~ ...',
      '= título',
      '- lista',
      '#import "x"',
      '#eval("1")',
      '#1 & Щукин, С.А.',
      '«*Ουρανός*»',
    ]) {
      expect(flat).toContain(literal);
    }
    expect(flat).toContain('Ελληνικά, Кириллица, čeština');
  });

  test('nothing runs over the margins or into the next column', async () => {
    const long = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ-'.repeat(3);
    const numbered = samples.foreign();
    const endless: PrintInput = {
      ...numbered,
      content: {
        ...numbered.content,
        customer: { ...numbered.content.customer, name: long, address: long },
        issuer: { ...numbered.content.issuer, name: long, email: `${long}@exemplo.pt` },
        payment: { method: long },
        notes: long.repeat(3),
      },
      issued: { ...numbered.issued, number: 'FT ABCDEFGHIJKLMNOPQRSTUVWXYZ-ABCDEFGH/123456789' },
    };
    for (const input of [samples.hostile(), samples.huge(), samples.mixed(), endless]) {
      await reading(input, async (pages) => {
        for (const page of pages) {
          const pieces = await piecesOf(page);
          for (const { x, width, text } of pieces) {
            if (text === 'ANULADO') continue;
            expect(x, text).toBeGreaterThan(56);
            expect(x + width, text).toBeLessThan(539.5);
          }
          const inOrder = pieces.toSorted((a, b) => Math.round(b.y) - Math.round(a.y) || a.x - b.x);
          for (const [index, piece] of inOrder.slice(1).entries()) {
            const before = inOrder[index];
            if (Math.round(before.y) !== Math.round(piece.y)) continue;
            expect(piece.x - (before.x + before.width), `${before.text} | ${piece.text}`).toBeGreaterThan(-0.5);
          }
        }
      });
    }
  });

  test('what the fonts lack prints as U+FFFD, and overrides of direction vanish', async () => {
    const input = sample({ lines: [line({ name: 'a\u202eb 😀 张 \u0000\u0007c\ue000 \ud800d', unitPrice: '1' })] });
    expect(await textOf(await print.render(input))).toContain('ab \ufffd 张 c d |');
  });

  test('any text at all still prints', async () => {
    const name = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code * 7)).join('');
    await expect(
      print.render(sample({ lines: [line({ name, unitPrice: '1' })], content: { notes: name } })),
    ).resolves.toBeDefined();
  });

  test('notes of many pages come before the totals', async () => {
    const notes = Array.from({ length: 120 }, (_, index) => `Nota ${index + 1}: entregue em bom estado.`).join('\n');
    const pages = await linesByPage(sample({ lines: [line({ name: 'Item', unitPrice: '1' })], content: { notes } }));
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.at(-1)!.join('\n')).toContain('Total sem IVA');
    expect(pages.slice(0, -1).join('\n')).not.toContain('Total sem IVA');
    expect(pages.flat().filter((one) => one.startsWith('Nota ')).length).toBe(120);
  });
});

describe('the company’s style', () => {
  const svg = (colour: string) =>
    new TextEncoder().encode(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"><path fill="${colour}" d="M0 0h4v2H0z"/></svg>`,
    );
  const withLogo = (logo: Uint8Array) => print.render({ ...samples.invoice(), style: { logo } });

  test('each company gets its own logo', async () => {
    const [red, blue, redAgain] = [
      await withLogo(svg('#f00')),
      await withLogo(svg('#00f')),
      await withLogo(svg('#f00')),
    ];
    expect(Buffer.compare(red, blue)).not.toBe(0);
    expect(Buffer.compare(red, redAgain)).toBe(0);
  });

  test('is not on a training document, whose head is of whoever makes the program: on no paper', async () => {
    for (const format of ['A4', 'RECEIPT', 'RECEIPT_58'] as const) {
      const training = { ...samples.training(), format };
      const style = { logo: svg('#f00'), colour: '#b42318', footer: 'Capital social 5 000,00 €' };
      const [plain, styled] = [
        await print.render({ ...training, style: {} }),
        await print.render({ ...training, style }),
      ];
      expect(Buffer.compare(plain, styled)).toBe(0);
      expect(await textOf(styled)).not.toMatch(/Capital social|Oficina do Norte/);
    }
  });

  test('a broken or huge logo is left out', async () => {
    const without = await print.render({ ...samples.invoice(), style: {} });
    for (const logo of [
      new Uint8Array([0x89, 0x50, 0x4e, 0x47, 1, 2]),
      new TextEncoder().encode('<svg'),
      new Uint8Array(600_000),
      new Uint8Array(),
      // A JPEG that codes before it says what, a PNG with half a colour that shines through, numbers that PDF can't hold.
      Buffer.from('ffd8ffda0006010000000212ffc0000b080008000801011100ffd9', 'hex'),
      pngFile({ width: 1, height: 1, depth: 8, colour: 2 }, deflateSync(Buffer.alloc(4)), [
        chunk('tRNS', Buffer.alloc(2)),
      ]),
      new TextEncoder().encode('<svg viewBox="0 0 4 2"><path d="M0 0L1e400 1z"/></svg>'),
      new TextEncoder().encode('<svg viewBox="0 0 4 2"><g transform="scale(1e30)"><path d="M0 0h1v1z"/></g></svg>'),
    ]) {
      expect(Buffer.compare(await withLogo(logo), without)).toBe(0);
    }
  });

  test('a logo cannot read files of this machine', async () => {
    const logo = new TextEncoder().encode(
      '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9"><image width="9" height="9" xlink:href="/etc/hostname"/><path d="M0 0h1"/></svg>',
    );
    await expect(withLogo(logo)).resolves.toBeDefined();
  });
});

describe('the file', () => {
  const kinds = [
    'invoice',
    'invoiceReceipt',
    'creditNote',
    'receipt',
    'receiptCashVat',
    'proForma',
    'transport',
    'transportFurther',
    'foreign',
    'cancelled',
  ] as const;
  const formats = ['A4', 'RECEIPT', 'RECEIPT_58'] as const;

  test.each(kinds)(
    '%s in each format: PDF/A-3a, tagged, with a heading, tables and a described QR code',
    async (name) => {
      for (const format of formats) {
        const input = { ...samples[name](), format };
        const pdf = await print.render(input);
        const document = await openPdf(pdf);
        const { metadata } = await document.getMetadata();
        expect([metadata?.get('pdfaid:part'), metadata?.get('pdfaid:conformance')]).toEqual(['3', 'A']);
        expect(await document.getMarkInfo()).toMatchObject({ Marked: true });
        const [page] = await pagesOf(document);
        const tree = await page.getStructTree();
        const roles = rolesOf(tree);
        expect(roles.filter((role) => role === 'H1')).toEqual(['H1']);
        const vat = input.content.transport?.valued === false || name === 'receipt' ? 0 : 1;
        const tables = roles.filter((role) => role === 'Table').length;
        // Where figures are too wide for a table on 58 mm, VAT per rate stands as labels and values.
        expect(tables).toBe(1 + (name === 'foreign' && format === 'RECEIPT_58' ? 0 : vat));
        expect(roles.filter((role) => role === 'TH').length).toBeGreaterThanOrEqual(2 * tables);
        expect(altsOf(tree)).toContain(`Código QR: ${input.issued.qr}`);
        await document.destroy();
        expect(digest(await print.render(input))).toBe(digest(pdf));
      }
    },
  );

  test('is tagged PDF/A-3a in Portuguese, with a title', async () => {
    const document = await openPdf(await print.render(samples.mixed()));
    const { info, metadata } = await document.getMetadata();
    expect(metadata?.get('pdfaid:part')).toBe('3');
    expect(metadata?.get('pdfaid:conformance')).toBe('A');
    expect(info).toMatchObject({
      Title: 'Fatura FT A2026/42',
      Language: 'pt-PT',
      PDFFormatVersion: '1.7',
      Author: 'Oficina do Norte, Lda.',
    });
    expect(await document.getMarkInfo()).toMatchObject({ Marked: true });
    const [page] = await pagesOf(document);
    const roles = rolesOf(await page.getStructTree());
    expect(roles).toEqual(expect.arrayContaining(['Document', 'H1', 'Table', 'TH', 'TD', 'Figure']));
    expect(roles.filter((role) => role === 'Table').length).toBe(2);
    await document.destroy();
  });

  test('has the instant of issue as its date', async () => {
    const document = await openPdf(await print.render(samples.invoice()));
    const { info } = await document.getMetadata();
    expect(info).toMatchObject({ CreationDate: 'D:20260306103205Z' });
    await document.destroy();
  });

  test('has the same bytes again, also in the worker thread and in another process, zone and locale', async () => {
    const input = samples.mixed();
    const here = digest(await print.render(input));
    expect(digest(await print.render(input))).toBe(here);
    const threaded = openPrint();
    expect(digest(await threaded.render(input))).toBe(here);
    await threaded.close();
    expect(digestElsewhere(input)).toBe(here);
  });

  test('the thread serves many at once, each its own document', async () => {
    const threaded = openPrint({ workers: 1 });
    const inputs = Array.from({ length: 12 }, (_, index) => ({
      ...samples.invoice(),
      style: { footer: `Cópia ${index}` },
    }));
    const files = await Promise.all(inputs.map((input) => threaded.render(input)));
    for (const [index, file] of files.entries()) expect(await textOf(file)).toContain(`Cópia ${index}`);
    await threaded.close();
  });

  test('a print that takes too long is given up, and the next one is made', async () => {
    const threaded = openPrint({ longest_ms: 2_000 });
    await expect(threaded.render(samples.long(60_000))).rejects.toThrow('aborted');
    const expected = digest(await print.render(samples.invoice()));
    // Its thread begins anew, for which a busy machine may need as long: not the first of the next ones, then.
    await eventually(async () => expect(digest(await threaded.render(samples.invoice()))).toBe(expected));
    await threaded.close();
  });

  test('a file larger than the thread’s outbox arrives whole', async () => {
    const input = samples.long(3_000);
    const threaded = openPrint();
    const file = await threaded.render(input);
    await threaded.close();
    expect(file.length).toBeGreaterThan(512 * 1024);
    expect(digest(file)).toBe(digest(await print.render(input)));
  });
});

function digest(pdf: Uint8Array): string {
  return createHash('sha256').update(pdf).digest('hex');
}

/** The digest of the same print from the built program, in a process of its own. */
function digestElsewhere(input: PrintInput): string {
  const built = new URL('../../dist/print/print.js', import.meta.url).href;
  const script = `
    const { openPrint } = await import(${JSON.stringify(built)});
    const { createHash } = await import('node:crypto');
    const input = JSON.parse(await new Response(process.stdin).text());
    input.createdAt = new Date(input.createdAt);
    const print = openPrint({ workers: 0 });
    console.log(createHash('sha256').update(await print.render(input)).digest('hex'));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    input: JSON.stringify(input),
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { ...process.env, TZ: 'Pacific/Kiritimati', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' },
  });
  expect(stderr).toBe('');
  return stdout.trim();
}

/** Every role in the structure tree, in order. */
function rolesOf(node: object | null): string[] {
  if (node === null) return [];
  const { role, children = [] } = node as { role?: string; children?: readonly object[] };
  return [...(role === undefined ? [] : [role]), ...children.flatMap(rolesOf)];
}

/** Every alternative text in the structure tree. */
function altsOf(node: object | null): string[] {
  if (node === null) return [];
  const { alt, children = [] } = node as { alt?: string; children?: readonly object[] };
  return [...(alt === undefined ? [] : [alt]), ...children.flatMap(altsOf)];
}
