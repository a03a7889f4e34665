/** What is decided before layout: mentions, figures and labels of a paper. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { creditNoteOver } from '../../src/fiscal/correct.ts';
import { type Discount, type DocumentType, documentTypes } from '../../src/fiscal/document.ts';
import { readFont } from '../../src/print/font.ts';
import type { PrintInput } from '../../src/print/input.ts';
import { paperOf } from '../../src/print/paper.ts';
import { takenBy } from '../fiscal-samples.ts';
import { line, sample, samples } from './print-samples.ts';

const file = createRequire(import.meta.url).resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf');
const font = readFont(readFileSync(file));

/** The paper of an input, with plain spaces. */
function paper(input: PrintInput): ReturnType<typeof paperOf> {
  return JSON.parse(JSON.stringify(paperOf(input, font)).replace(/[\u00a0\u202f\u2002]/g, ' '));
}

describe('the program', () => {
  const certified = (certificateNumber: number) => {
    const input = samples.invoice();
    return paper({ ...input, issued: { ...input.issued, certificateNumber } }).program;
  };
  test('names its certificate', () =>
    expect(certified(1234)).toBe('jwwQ-Processado por programa certificado n.º 1234/AT'));
  test('does not claim to be certified when it is not', () => expect(certified(0)).toBeUndefined());
});

describe('the buyer', () => {
  const buyer = (customer: Partial<PrintInput['content']['customer']>) =>
    paper(
      sample({
        lines: [line({ name: 'Item', unitPrice: '1' })],
        content: { customer: { id: 'c', name: 'Rui Reis', ...customer } },
      }),
    ).customer;

  test('without NIF is the final consumer, in the place of the number', () => {
    expect(buyer({ city: 'Faro', country: 'PT' })).toMatchObject({
      name: 'Rui Reis',
      lines: ['Faro', 'Consumidor final'],
    });
  });
  test('unknown: the final consumer', () => {
    const unknown = { finalConsumer: true, country: 'Desconhecido' };
    for (const taxpayerNumber of [undefined, '999999990'])
      expect(buyer({ ...unknown, taxpayerNumber })).toMatchObject({ name: 'Consumidor final', lines: [] });
  });
  test('of a country that is not said lives here; a blank line is none', () => {
    expect(buyer({ taxpayerNumber: '501442600', address: ' ', city: 'Faro' }).lines).toEqual(['Faro', 'NIF 501442600']);
  });
  test('abroad: country, and the number with the prefix of the member state that gave it', () => {
    const lines = buyer({
      taxpayerNumber: '123456789',
      country: 'GR',
      address: 'Ερμού 1',
      postalCode: '105 63',
      city: 'Αθήνα',
    }).lines;
    expect(lines).toEqual(['Ερμού 1', '105 63 Αθήνα', 'Grécia', 'N.º fiscal EL123456789']);
    expect(buyer({ taxpayerNumber: 'B83871236', country: 'ES' }).lines).toEqual(['Espanha', 'N.º fiscal ESB83871236']);
    expect(buyer({ taxpayerNumber: '136695976', country: 'CH' }).lines).toEqual(['Suíça', 'N.º fiscal 136695976']);
  });
});

test('who reads the labels in English reads countries and means of payment in it too', () => {
  const { customer, facts } = paper(samples.receiptForeign());
  expect(customer.lines).toContain('Alemanha / Germany');
  expect(facts.at(-1)!.value).toBe(
    'Transferência bancária ou débito direto autorizado / Bank transfer or authorised direct debit',
  );
  const [, unloading] = paper({ ...samples.transport(), language: 'en' }).places;
  expect(unloading!.lines.at(-1)).toBe('Espanha / Spain');
});

test('who reads the labels in English reads the title in it too', () => {
  const titles = (language: PrintInput['language']) =>
    (Object.keys(documentTypes) as DocumentType[]).map((type) => {
      const { title, titleInEnglish } = paper(sample({ type, lines: [line({ name: 'a', unitPrice: '1' })], language }));
      return titleInEnglish === undefined ? title : `${title}: ${titleInEnglish}`;
    });
  expect(titles('en')).toEqual([
    'Fatura: Invoice',
    'Fatura simplificada: Simplified invoice',
    'Fatura-recibo: Invoice and receipt',
    'Nota de débito: Debit note',
    'Nota de crédito: Credit note',
    'Recibo: Receipt',
    'Fatura pró-forma: Pro forma invoice',
    'Guia de remessa: Delivery note',
    'Guia de transporte: Transport document',
    'Guia de movimentação de ativos fixos próprios: Movement of own fixed assets',
    'Guia de consignação: Consignment note',
    'Guia de devolução: Return note',
  ]);
  expect(titles('pt')).toEqual(titles('en').map((one) => one.split(':')[0]));
});

test('the issuer names its country to who lives in another one, and its number as the labels do', () => {
  const { issuer } = samples.invoice().content;
  const lines = (more: Pick<Partial<PrintInput>, 'language'>, country?: string, training?: boolean) => {
    const { content, ...input } = sample({ lines: [line({ name: 'Item', unitPrice: '1' })], ...more });
    const customer = { ...content.customer, country };
    return paper({ ...input, content: { ...content, customer, training } }).issuer.lines;
  };
  const town = `${issuer.postalCode} ${issuer.city}`;
  expect(lines({}, 'ES').slice(-3)).toEqual([town, 'Portugal', 'NIF 500000000']);
  expect(lines({ language: 'en' }, 'ES').slice(-3)).toEqual([town, 'Portugal', 'NIF / VAT no. 500000000']);
  for (const here of ['PT', 'Desconhecido', undefined])
    expect(lines({}, here).slice(-2)).toEqual([town, 'NIF 500000000']);
  expect(lines({}, 'ES', true)).toEqual(['NIF 508025095']);
});

test('the issuer is reached by its telephone, or its mobile where it has no other, its mail and its page', () => {
  const { content, ...input } = samples.invoice();
  const contacts = (more: Partial<PrintInput['content']['issuer']>) =>
    paper({ ...input, content: { ...content, issuer: { ...content.issuer, ...more } } }).issuer.contacts;
  const others = ['contas@oficinadonorte.pt', 'oficinadonorte.pt'];
  expect(contacts({ mobile: '+351 910 000 000' })).toEqual(['+351 220 000 000', ...others]);
  expect(contacts({ phone: undefined, mobile: '+351 910 000 000' })).toEqual(['+351 910 000 000', ...others]);
});

test('the issuer has its number with the prefix PT where the buyer has one of another member state', () => {
  const number = (customer: Partial<PrintInput['content']['customer']>) => {
    const { content, ...input } = sample({ lines: [line({ name: 'Item', unitPrice: '1' })] });
    return paper({ ...input, content: { ...content, customer: { ...content.customer, ...customer } } }).issuer.lines.at(
      -1,
    );
  };
  expect(number({ country: 'ES', taxpayerNumber: 'B83871236' })).toBe('NIF PT500000000');
  expect(number({ country: 'ES', taxpayerNumber: undefined })).toBe('NIF 500000000');
  expect(number({ country: 'US', taxpayerNumber: '12-3456789' })).toBe('NIF 500000000');
  expect(number({ country: 'PT', taxpayerNumber: '501442600' })).toBe('NIF 500000000');
});

test('the file names its author letter for letter, however long the name is', () => {
  const name = 'Otorrinolaringologia-e-Fonoaudiologia-do-Norte';
  const { content, ...input } = samples.invoice();
  const long = paperOf({ ...input, content: { ...content, issuer: { ...content.issuer, name } } }, font);
  expect(long.issuer.name).not.toBe(name);
  expect(long.author).toBe(name);
});

test('the foot of a page has twelve lines of the company; notes of more than eight, or of many words, do not go there', () => {
  const lines = (count: number, text = 'Nota') => Array.from({ length: count }, () => text).join('\n');
  const foot = (notes: string, footer: string) =>
    paper(sample({ lines: [line({ name: 'a', unitPrice: '1' })], content: { notes }, style: { footer } }));
  expect([12, 13].map((count) => foot('', lines(count)).footer.length)).toEqual([12, 12]);
  const isLong = (notes: string) => foot(notes, '').notesAreLong;
  expect(
    [lines(8), lines(9), lines(8, 'nota '.repeat(14).trim()), lines(8, 'notas '.repeat(12).trim())].map(isLong),
  ).toEqual([false, true, false, true]);
});

test('the rate of a withholding keeps to its tax, wherever the label is broken', () => {
  const { afterGross } = paperOf(samples.invoiceReceipt(), font).totals!;
  expect(afterGross[1]!.label).toBe('Retenção na fonte IRS\u00a023\u00a0%');
});

describe('dates', () => {
  const facts = (content: Partial<PrintInput['content']>, more: Partial<PrintInput> = {}) =>
    paper(sample({ lines: [line({ name: 'Item', unitPrice: '1' })], content, ...more })).facts.map(
      ({ label, value }) => `${label.join('/')}: ${value}`,
    );

  test('those equal to the date of issue are not repeated', () => {
    expect(facts({ taxPointDate: '2026-03-06', payment: { method: 'NU', date: '2026-03-06' } })).toEqual([
      'Data de emissão: 06-03-2026',
      'Meio de pagamento: Numerário',
    ]);
  });
  test('those that differ are said', () => {
    expect(facts({ taxPointDate: '2026-03-01', payment: { method: 'Vale de oferta', date: '2026-03-05' } })).toEqual([
      'Data de emissão: 06-03-2026',
      'Data da operação: 01-03-2026',
      'Meio de pagamento: Vale de oferta',
      'Data de pagamento: 05-03-2026',
    ]);
  });
  test('a note tells the day of the operation too, where it is another', () => {
    const { content, ...input } = samples.creditNote();
    const told = paper({ ...input, content: { ...content, taxPointDate: '2026-02-25' } }).facts;
    expect(told.map(({ label, value }) => `${label[0]}: ${value}`)).toEqual([
      'Data de emissão: 06-03-2026',
      'Data da operação: 25-02-2026',
      'Documento corrigido: Fatura FT A2026/1 de 27-02-2026',
      'Motivo: Serviço não prestado',
    ]);
  });
  test('only what is still owed has a due date', () => {
    const due = (type: DocumentType) => facts({ type, dueDate: '2026-04-05' }).length;
    const types = ['INVOICE', 'DEBIT_NOTE', 'PROFORMA', 'INVOICE_RECEIPT', 'CREDIT_NOTE'] as const;
    expect(types.map(due)).toEqual([2, 2, 2, 1, 1]);
  });
  test('in two languages', () =>
    expect(facts({}, { language: 'en' })).toEqual(['Data de emissão/Issue date: 06-03-2026']));
});

describe('lines', () => {
  const figures = (...lines: Parameters<typeof line>[0][]) =>
    paper(sample({ lines: lines.map(line) })).table!.rows.map((row) => row.figures.join(' · '));

  test('units: words in the plural from two on, abbreviations as they are, none for none', () => {
    expect(
      figures(
        { name: 'a', unitPrice: '1', unit: 'DAY', quantity: '1.5' },
        { name: 'b', unitPrice: '1', unit: 'MONTH', quantity: '2' },
        { name: 'c', unitPrice: '1', unit: 'HOUR', quantity: '10' },
        { name: 'd', unitPrice: '1', unit: 'NA', quantity: '3' },
      ),
    ).toEqual([
      '1,5 dia · 1,00 · 23 % · 1,50 €',
      '2 meses · 1,00 · 23 % · 2,00 €',
      '10 h · 1,00 · 23 % · 10,00 €',
      '3 · 1,00 · 23 % · 3,00 €',
    ]);
  });

  test('discounts: the percentage agreed, or the money taken off the line; nothing where there is none', () => {
    expect(
      figures(
        { name: 'a', unitPrice: '10', quantity: '2', discount: { type: 'PERCENT', value: '12.5' } },
        { name: 'b', unitPrice: '10', quantity: '2', discount: { type: 'AMOUNT', value: '1.25' } },
        { name: 'c', unitPrice: '10' },
      ),
    ).toEqual([
      '2 un · 10,00 · 12,5 % · 23 % · 17,50 €',
      '2 un · 10,00 · 2,50 € · 23 % · 17,50 €',
      '1 un · 10,00 ·  · 23 % · 10,00 €',
    ]);
  });

  test('discounts: none of nothing; with money among them, the money that came off, in the currency of the document', () => {
    const discounts = (discount: Discount, globalDiscount: Discount) => {
      const lines = [line({ name: 'a', unitPrice: '10', quantity: '2', discount })];
      const content = { globalDiscount, currency: 'USD', exchangeRate: '0.9' };
      const input = sample({ lines, content });
      const [row] = paper({ ...input, format: 'RECEIPT' }).roll!.pages[0]!.rows;
      return [paper(input).table!.rows[0]!.figures[2], ...row!.terms.join(' · ').split(' · ').slice(1, -1)];
    };
    const tenth = { type: 'PERCENT', value: '10' } as const;
    expect(discounts({ type: 'PERCENT', value: '0' }, tenth)).toEqual(['10 %', 'Desconto 10 %']);
    expect(discounts(tenth, { type: 'AMOUNT', value: '3.00' })).toEqual(['5,00 USD', 'Desconto 5,00 USD']);
    expect(discounts({ type: 'AMOUNT', value: '1' }, tenth)).toEqual(['3,80 USD', 'Desconto 3,80 USD']);
  });

  test('what is carried from page to page is the sum of all that was told, in its currency', () => {
    const long = (content: Partial<PrintInput['content']>) => {
      const lines = Array.from({ length: 900 }, (_, index) =>
        line({ name: 'a', unitPrice: `${index}.25`, quantity: '3' }),
      );
      return sample({ lines, content });
    };
    const { content, ...receipt } = samples.receiptWithheld();
    const [one] = content.settles!;
    const settles = Array.from({ length: 900 }, (_, index) => ({
      ...one!,
      withholding: index % 2 === 0 ? '0.00' : '230.00',
    }));
    const inputs: [PrintInput, string][] = [
      [long({}), '€'],
      [long({ currency: 'USD', exchangeRate: '0.9' }), 'USD'],
      [{ ...receipt, content: { ...content, settles } }, '€'],
    ];
    const cents = (told: string, currency: string) => {
      expect(told.endsWith(` ${currency}`)).toBe(true);
      return Number(told.replace(/\D/g, ''));
    };
    for (const [input, currency] of inputs) {
      let sum = 0;
      for (const { figures, carried } of paper(input).table!.rows) {
        sum += cents(figures.at(-1)!, currency);
        expect(cents(carried!, currency)).toBe(sum);
      }
      const pages = paper({ ...input, format: 'RECEIPT' }).roll!.pages;
      expect(pages.length).toBeGreaterThan(2);
      let rolled = 0;
      for (const { rows, carried } of pages) {
        for (const { amount } of rows) rolled += cents(amount, currency);
        if (carried !== undefined) expect(cents(carried, currency)).toBe(rolled);
      }
      expect(pages.map(({ carried }) => carried === undefined)).toEqual(pages.map((_, at) => at === pages.length - 1));
      expect(rolled).toBe(sum);
    }
  });

  test('the official example: 100 at 0.55 less 8.8 %, 1 at 100.00, 10 % off all: 166.22', () => {
    const { table, totals } = paper(
      sample({
        lines: [
          line({ name: 'a', unitPrice: '0.55', quantity: '100', discount: { type: 'PERCENT', value: '8.8' } }),
          line({ name: 'b', unitPrice: '100' }),
        ],
        content: { globalDiscount: { type: 'PERCENT', value: '10' } },
      }),
    );
    expect(table!.rows.map((row) => [row.figures[2], row.figures.at(-1), row.carried])).toEqual([
      ['8,8 % + 10 %', '45,14 €', '45,14 €'],
      ['10 %', '90,00 €', '135,14 €'],
    ]);
    expect(totals!.sums.map(({ label, value }) => `${label}: ${value}`)).toEqual([
      'Total ilíquido: 155,00 €',
      'Descontos nas linhas: 4,84 €',
      'Desconto global 10 %: 15,02 €',
      'Total sem IVA: 135,14 €',
      'IVA: 31,08 €',
    ]);
    expect(totals!.final).toEqual({ label: 'Total', value: '166,22 €' });
  });
});

describe('credit notes', () => {
  const invoice = (globalDiscount: Discount | undefined) =>
    sample({
      lines: [
        line({
          id: 'a',
          name: 'a',
          unitPrice: '0.55',
          quantity: '100',
          discount: { type: 'PERCENT', value: '8.8' },
        }),
        line({ id: 'b', name: 'b', unitPrice: '100' }),
      ],
      content: { globalDiscount },
    });
  /** A note on it, over part of its first line or over all of it. */
  const noteOn = ({ content }: PrintInput, quantity: string | undefined): PrintInput['content'] => {
    const wanted = quantity === undefined ? undefined : [{ id: 'a', quantity }];
    const parent = { id: 'inv_1', number: 'FT A2026/1', date: '2026-02-27', type: 'INVOICE' as const };
    return {
      ...content,
      globalDiscount: undefined,
      parent,
      ...creditNoteOver(content, takenBy([]), wanted, () => 'n'),
    };
  };
  const said = (content: PrintInput['content'], format: 'A4' | 'RECEIPT' = 'A4') => {
    const { table, roll, totals } = paper({
      ...samples.creditNote(),
      content: { ...content, type: 'CREDIT_NOTE' },
      format,
    });
    const discounts = table?.rows.map((row) => `${row.figures[2]} | ${row.figures.at(-1)}`);
    return [
      ...(discounts ?? roll!.pages.flatMap(({ rows }) => rows.flatMap(({ terms }) => terms))),
      ...totals!.sums.map(({ label, value }) => `${label}: ${value}`).slice(0, -2),
    ];
  };
  const tenPercent = { type: 'PERCENT', value: '10' } as const;

  test('of an invoice with both discounts say both, and each sum is its own', () => {
    expect(said(noteOn(invoice(tenPercent), '33'))).toEqual([
      '8,8 % + 10 % | 14,90 €',
      'Total ilíquido: 18,15 €',
      'Descontos nas linhas: 1,60 €',
      'Desconto global 10 %: 1,65 €',
    ]);
    expect(said(noteOn(invoice(tenPercent), '33'), 'RECEIPT')[0]).toContain('Desconto 8,8 % + 10 %');
  });

  test('of all of it say what the invoice said', () => {
    expect(said(noteOn(invoice(tenPercent), undefined))).toEqual([
      '8,8 % + 10 % | 45,14 €',
      '10 % | 90,00 €',
      'Total ilíquido: 155,00 €',
      'Descontos nas linhas: 4,84 €',
      'Desconto global 10 %: 15,02 €',
    ]);
  });

  test('of a global amount say the money that came off each line', () => {
    expect(said(noteOn(invoice({ type: 'AMOUNT', value: '15.02' }), '33'))).toEqual([
      '3,25 € | 14,90 €',
      'Total ilíquido: 18,15 €',
      'Descontos nas linhas: 1,60 €',
      'Desconto global: 1,65 €',
    ]);
  });

  test('that do not know of the global discount say the money too, rather than a percentage that is too low', () => {
    const { globalDiscount: _, ...note } = noteOn(invoice(tenPercent), '33');
    expect(said({ ...note, globalDiscountAmount: '0.00' })).toEqual([
      '3,25 € | 14,90 €',
      'Total ilíquido: 18,15 €',
      'Descontos nas linhas: 3,25 €',
    ]);
    expect(said(noteOn(invoice(undefined), '33'))[0]).toBe('8,8 % | 16,55 €');
  });
});

describe('VAT', () => {
  const totals = (...lines: Parameters<typeof line>[0][]) => paper(sample({ lines: lines.map(line) })).totals!;

  test('regions are named as soon as one is not the mainland; mentions follow their codes', () => {
    const { vat, exemptions } = totals(
      { name: 'a', unitPrice: '100', region: 'PT-MA' },
      { name: 'b', unitPrice: '100', vatRate: 'REDUCED' },
      { name: 'c', unitPrice: '100', vatRate: 'EXEMPT', exemptionCode: 'M15' },
      { name: 'd', unitPrice: '100', vatRate: 'EXEMPT', exemptionCode: 'M05' },
      { name: 'e', unitPrice: '100', region: 'PT-AC', vatRate: 'REDUCED' },
    );
    expect(vat?.rows.map(([rate]) => rate)).toEqual([
      '6 % Continente',
      '0 % M05 Continente',
      '0 % M15 Continente',
      '4 % Açores',
      '22 % Madeira',
    ]);
    expect(exemptions).toEqual([
      { code: 'M05', mention: 'Isento artigo 14.º do CIVA' },
      { code: 'M15', mention: 'Regime da margem de lucro - Objetos de coleção e antiguidades' },
    ]);
  });

  test('an ended exemption keeps its mention on old documents', () => {
    const input = sample({
      lines: [line({ name: 'Pão', unitPrice: '1', vatRate: 'EXEMPT', exemptionCode: 'M26' })],
      content: { taxPointDate: '2023-06-01' },
    });
    expect(paper(input).totals!.exemptions[0]?.mention).toBe('Isenção de IVA com direito à dedução no cabaz alimentar');
  });

  test('withholding stands after the total with VAT, then what is to be paid', () => {
    const { sums, afterGross, final } = totals({
      name: 'a',
      unitPrice: '1000',
      withholding: { type: 'IRS', percent: '23', reason: 'Artigo 101.º do CIRS' },
    });
    expect(sums.map(({ label }) => label)).toEqual(['Total sem IVA', 'IVA']);
    expect(afterGross).toEqual([
      { label: 'Total', value: '1 230,00 €' },
      { label: 'Retenção na fonte IRS 23 %', value: '230,00 €', note: 'Artigo 101.º do CIRS' },
    ]);
    expect(final).toEqual({ label: 'Total a pagar', value: '1 000,00 €' });
  });

  test('each withholding is told, with its law where it has one, in euros too', () => {
    const kinds = [
      { type: 'IRS', percent: '23', reason: 'Artigo 101.º do CIRS' },
      { type: 'IRC', percent: '25', reason: ' ' },
      { type: 'IS', percent: '4' },
    ] as const;
    const lines = kinds.map((withholding) => line({ name: 'a', unitPrice: '100', withholding }));
    const { afterGross, euros } = paper(sample({ lines, content: { currency: 'USD', exchangeRate: '0.5' } })).totals!;
    expect(afterGross.slice(1).map(({ label, value, note }) => [label, value, note])).toEqual([
      ['Retenção na fonte IRS 23 %', '23,00 USD', 'Artigo 101.º do CIRS'],
      ['Retenção na fonte IRC 25 %', '25,00 USD', undefined],
      ['Retenção na fonte IS 4 %', '4,00 USD', undefined],
    ]);
    expect(euros.slice(-4).map(({ label, value }) => `${label}: ${value}`)).toEqual([
      'Retenção na fonte IRS 23 %: 11,50 €',
      'Retenção na fonte IRC 25 %: 12,50 €',
      'Retenção na fonte IS 4 %: 2,00 €',
      'Total a pagar: 158,50 €',
    ]);
  });

  test('a tax of which nothing is withheld is not told, as SAF-T, QR code and the AT are not', () => {
    const irs = { type: 'IRS', percent: '23', reason: 'Artigo 101.º do CIRS' } as const;
    const nothing = line({ name: 'a', unitPrice: '0.01', withholding: irs });
    const rent = line({ name: 'b', unitPrice: '100', withholding: { type: 'IRC', percent: '25' } });
    for (const [type, word] of [
      ['INVOICE', 'Total'],
      ['CREDIT_NOTE', 'Total'],
      ['RECEIPT', 'Total recebido'],
    ] as const) {
      const { afterGross, final } = paper(sample({ type, lines: [nothing] })).totals!;
      expect([afterGross, final]).toEqual([[], { label: word, value: '0,01 €' }]);
      const other = paper(sample({ type, lines: [nothing, rent] })).totals!;
      expect(other.afterGross.slice(1)).toEqual([{ label: 'Retenção na fonte IRC 25 %', value: '25,00 €' }]);
    }
    // A yen is less than a cent.
    const yen = line({ name: 'a', unitPrice: '3', withholding: irs });
    const { afterGross, euros } = paper(sample({ lines: [yen], content: { currency: 'JPY', exchangeRate: '0.006' } }))
      .totals!;
    expect(afterGross.map(({ value }) => value)).toEqual(['3,69 JPY', '0,69 JPY']);
    expect(euros.map(({ label }) => label)).toEqual(['Câmbio', 'Total sem IVA', 'IVA', 'Total']);
  });

  test('what is paid when it is issued says what was paid, not what is to be', () => {
    const withheld = line({ name: 'a', unitPrice: '1000', withholding: { type: 'IRS', percent: '23' } });
    const final = (type: DocumentType, language: PrintInput['language'] = 'pt') =>
      paper(sample({ type, lines: [withheld], language })).totals!.final;
    for (const type of ['INVOICE_RECEIPT', 'SIMPLIFIED_INVOICE'] as const) {
      expect(final(type)).toEqual({ label: 'Total pago', value: '1 000,00 €' });
      expect(final(type, 'en').english).toBe('Amount paid');
    }
    for (const type of ['INVOICE', 'DEBIT_NOTE', 'PROFORMA'] as const) {
      expect(final(type).label).toBe('Total a pagar');
      expect(final(type, 'en').english).toBe('Amount due');
    }
    expect(final('CREDIT_NOTE').label).toBe('Total a creditar');
    expect(final('CREDIT_NOTE', 'en').english).toBe('Amount credited');
  });
});

describe('receipts', () => {
  const rows = (input: PrintInput) => paper(input).table!.rows.map(({ name, figures }) => [name, ...figures]);

  test('list what they settle; of several documents in euros', () => {
    const { content, ...input } = samples.receiptForeign();
    const [one] = content.settles!;
    const other = { ...one!, document: { ...one!.document, number: 'FT A2026/7', date: '2026-03-01' }, gross: '70.00' };
    expect(rows({ ...input, content })).toEqual([['FT A2026/1', '27-02-2026', '2 500,00 USD']]);
    expect(rows({ ...input, content: { ...content, settles: [one!, other] } })).toEqual([
      ['FT A2026/1', '27-02-2026', '2 303,75 €'],
      ['FT A2026/7', '01-03-2026', '70,00 €'],
    ]);
  });

  test('tell the tax withheld of each document, also where one has none', () => {
    const { content, ...input } = samples.receiptWithheld();
    const [one] = content.settles!;
    const other = { ...one!, document: { ...one!.document, number: 'FT A2026/7' }, withholding: '0.00' };
    for (const settles of [
      [one!, other],
      [other, one!],
    ]) {
      const told = new Map(rows({ ...input, content: { ...content, settles } }).map(([name, ...row]) => [name, row]));
      expect(told.get('FT A2026/1')).toEqual(['27-02-2026', '1 230,00 €', '230,00 €', '1 000,00 €']);
      expect(told.get('FT A2026/7')).toEqual(['27-02-2026', '1 230,00 €', '0,00 €', '1 230,00 €']);
      expect(paper({ ...input, content: { ...content, settles } }).table!.columns.length).toBe(4);
    }
  });

  test('tell the tax withheld: what was settled, what was withheld, what was received', () => {
    const input = samples.receiptWithheld();
    expect(rows(input)).toEqual([['FT A2026/1', '27-02-2026', '1 230,00 €', '230,00 €', '1 000,00 €']]);
    const { totals } = paper(input);
    expect(totals!.afterGross).toMatchObject([
      { label: 'Total liquidado', value: '1 230,00 €' },
      { label: 'Retenção na fonte IRS 23 %', value: '230,00 €' },
    ]);
    expect(totals!.final).toEqual({ label: 'Total recebido', value: '1 000,00 €' });
  });

  test('in another currency: total and withholding in euros too, as the QR code tells them', () => {
    const withheld = line({ name: 'a', unitPrice: '1000', withholding: { type: 'IRS', percent: '23', reason: 'b' } });
    const content = { currency: 'USD', exchangeRate: '0.9215' };
    const { books } = sample({ lines: [withheld], content }).content;
    const euros = (type: DocumentType, more = {}) =>
      paper(sample({ type, lines: [withheld], content: { ...content, ...more } }))
        .totals!.euros.slice(1)
        .map(({ label, value }) => `${label}: ${value}`);
    const tax = ['Total sem IVA: 921,50 €', 'IVA: 211,95 €'];
    const withholding = 'Retenção na fonte IRS 23 %: 211,95 €';
    expect([books.gross, books.withholding]).toEqual(['1133.45', '211.95']);
    expect(euros('INVOICE')).toEqual([...tax, 'Total: 1 133,45 €', withholding, 'Total a pagar: 921,50 €']);
    const received = ['Total liquidado: 1 133,45 €', withholding, 'Total recebido: 921,50 €'];
    expect(euros('RECEIPT')).toEqual(received);
    expect(euros('RECEIPT', { cashVat: true })).toEqual([...tax, ...received]);
  });

  test('tell VAT per rate under the cash VAT scheme only', () => {
    const { totals, mentions } = paper(samples.receiptCashVat());
    expect(mentions).toEqual(['Este documento não serve de fatura', 'IVA - regime de caixa']);
    expect(totals!.vat?.rows).toEqual([
      ['23 %', '64,20 €', '14,77 €'],
      ['13 %', '180,50 €', '23,47 €'],
    ]);
    expect(paper(samples.receipt()).totals!.vat).toBeUndefined();
  });

  test('tell why there is no tax under the cash VAT scheme only', () => {
    const { content, ...input } = samples.receiptCashVat();
    const exempt = sample({ lines: [line({ name: 'a', unitPrice: '50', vatRate: 'EXEMPT', exemptionCode: 'M07' })] });
    const totals = { ...content.totals, groups: [...content.totals.groups, ...exempt.content.totals.groups] };
    const told = (cashVat: boolean) => paper({ ...input, content: { ...content, totals, cashVat } }).totals!;
    expect(told(true).vat!.rows.at(-1)).toEqual(['0 % M07', '50,00 €', '0,00 €']);
    expect(told(true).exemptions).toEqual([{ code: 'M07', mention: 'Isento artigo 9.º do CIVA' }]);
    expect([told(false).vat, told(false).exemptions]).toEqual([undefined, []]);
  });
});

describe('the state of a document', () => {
  test('of whatever type: what it says of its state, in the order of the law', () => {
    const original = 'abc/00001';
    const mentions = (type: DocumentType, content: Partial<PrintInput['content']> = {}) =>
      paper(sample({ type, lines: [line({ name: 'a', unitPrice: '1' })], content })).mentions;
    const regimes = { training: true, cashVat: true, recovered: { kind: 'M', original } } as const;
    const [noInvoice, training] = ['Este documento não serve de fatura', 'Documento emitido para fins de Formação'];
    const types = Object.keys(documentTypes) as DocumentType[];
    const invoices = ['INVOICE', 'SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT', 'DEBIT_NOTE', 'CREDIT_NOTE'];
    for (const type of types) {
      const first = invoices.includes(type) ? [] : [noInvoice];
      const code = type === 'RECEIPT' ? 'RC' : documentTypes[type].code;
      const copied = `Cópia do documento original -${code}M ${original}`;
      expect([type, mentions(type)]).toEqual([type, first]);
      expect([type, mentions(type, { training: true })]).toEqual([type, [...first, training]]);
      expect([type, mentions(type, regimes)]).toEqual([type, [...first, training, copied, 'IVA - regime de caixa']]);
    }
    expect(mentions('RECEIPT', { recovered: regimes.recovered })).toEqual([
      noInvoice,
      `Cópia do documento original -RGM ${original}`,
    ]);
  });

  test('training: the mention, and the producer at the head in place of the issuer', () => {
    const { mentions, issuer } = paper(samples.training());
    expect(mentions).toEqual(['Documento emitido para fins de Formação']);
    expect(issuer).toEqual({ name: 'Fábrica de Programas, S.A.', lines: ['NIF 508025095'], contacts: [] });
    expect(JSON.stringify(paper(samples.training()))).not.toContain('Oficina do Norte');
  });

  test('beyond the third, a copy of a transport document is not valid for goods in circulation; of others nothing is said', () => {
    const mentions = (input: PrintInput) => paper({ ...input, copy: 'Cópia' }).mentions;
    expect(mentions(samples.transport()).at(-1)).toBe(
      'Cópia de documento não válida para os fins previstos no regime de bens em circulação',
    );
    for (const copy of ['Original', 'Duplicado', 'Triplicado'] as const)
      expect(paper({ ...samples.transport(), copy }).mentions).toEqual(['Este documento não serve de fatura']);
    expect(mentions(samples.invoice())).toEqual([]);
    expect(mentions(samples.proForma())).toEqual(['Este documento não serve de fatura']);
  });

  test('recovered: a copy, of which original', () => {
    expect(paper(samples.recovered()).mentions).toEqual(['Cópia do documento original -FTM abc/00001']);
    const { content, ...input } = samples.recovered();
    const recovered = { kind: 'D', original: 'XY 2013A/00099' } as const;
    expect(paper({ ...input, content: { ...content, recovered } }).mentions).toEqual([
      'Cópia do documento original -FTD XY 2013A/00099',
    ]);
  });

  test('notes on a recovered one quote the original', () => {
    const corrected = (name: 'creditNote' | 'debitNote', original: string, format: 'A4' | 'RECEIPT' = 'A4') => {
      const { content, ...input } = samples[name]();
      const parent = { ...content.parent!, number: 'FT R2026/1', original };
      const { facts, roll } = paper({ ...input, content: { ...content, parent }, format });
      return (roll?.facts ?? facts).find(({ label }) => label.includes('Documento corrigido'))?.value;
    };
    expect(corrected('creditNote', 'FTM abc/00001')).toBe('Fatura FTM abc/00001 de 27-02-2026');
    expect(corrected('creditNote', 'FTM abc/00001', 'RECEIPT')).toBe('Fatura FTM abc/00001 de 27-02-2026');
    expect(corrected('debitNote', 'FT A2025/99')).toBe('Fatura FT A2025/99 de 27-02-2026');
  });

  test('cash VAT, and nothing where there is nothing to say', () => {
    expect(paper(samples.cashVat()).mentions).toEqual(['IVA - regime de caixa']);
    expect(paper(samples.invoice()).mentions).toEqual([]);
  });

  test('made of a pro forma: which one', () => {
    expect(paper(samples.converted()).facts.at(-1)).toEqual({
      label: ['Documento de origem'],
      value: 'Fatura pró-forma PF A2026/3 de 20-02-2026',
      isLiteral: true,
    });
  });
});

describe('pro formas', () => {
  const dates = (date: string) => {
    const input = samples.proForma();
    const { facts } = paper({ ...input, issued: { ...input.issued, date } });
    return facts.filter(({ label }) => /^Data/.test(label[0]!)).map(({ label, value }) => `${label[0]}: ${value}`);
  };

  test('tell the hour, and their date where it is another day', () => {
    expect(dates('2026-03-06')[0]).toBe('Data e hora de emissão: 06-03-2026 10:32');
    expect(dates('2026-03-06').join()).not.toContain('Data do documento');
    expect(dates('2026-02-20').slice(0, 2)).toEqual([
      'Data e hora de emissão: 06-03-2026 10:32',
      'Data do documento: 20-02-2026',
    ]);
  });
});

describe('transport documents', () => {
  test('tell places, hours in the company’s own time, plate and code; without values no figure of money', () => {
    const { issued, ...transport } = samples.transport();
    // By the clock of the Azores, too: it is told before it starts.
    const there = {
      issued: { ...issued, systemEntry: '2026-03-06T09:32:10' },
      region: 'PT-AC',
      atDocCode: '123',
    } as const;
    const { facts, places, totals, table } = paper({ ...transport, ...there });
    expect(facts.map(({ label, value }) => `${label}: ${value}`)).toEqual([
      'Data e hora de emissão: 06-03-2026 09:32',
      'Início do transporte: 06-03-2026 10:15',
      'Matrícula: 00-AA-00',
      'Código AT: 123',
    ]);
    expect(places).toEqual([
      { label: 'Local de carga', lines: ['Rua do Armazém, 4', '4430-001 Vila Nova de Gaia'] },
      { label: 'Local de descarga', lines: ['Calle de Alcalá 96', '28009 Madrid', 'Espanha'] },
    ]);
    expect(totals).toBeUndefined();
    expect(table!.rows.map(({ figures }) => figures)).toEqual([['12 un'], ['250 kg']]);
    for (const format of ['A4', 'RECEIPT'] as const)
      expect(JSON.stringify(paper({ ...samples.transport(), format }))).not.toMatch(/€|0,00/);
  });

  test('tell what the goods are like, with values or without, on each paper; a plate only where there is one', () => {
    for (const { content, ...guide } of [samples.transport(), samples.transportValued()]) {
      const lines = content.lines.map((one) => ({ ...one, description: 'Lote 7\nvalidade 2027' }));
      const transport = { ...content.transport!, licensePlate: ' ' };
      const input = { ...guide, content: { ...content, lines, transport } };
      expect(paper(input).table!.rows.map(({ detail }) => detail)).toEqual(Array(2).fill(['Lote 7', 'validade 2027']));
      const [page] = paper({ ...input, format: 'RECEIPT' }).roll!.pages;
      expect(page!.rows.map(({ detail }) => detail)).toEqual(Array(2).fill(['Lote 7', 'validade 2027']));
      expect(paper(input).facts.map(({ label }) => label[0])).not.toContain('Matrícula');
    }
  });

  test('with values they have prices and totals', () => {
    const { totals, table } = paper(samples.transportValued());
    expect(table!.rows[1]!.figures).toEqual(['250 kg', '0,89', '23 %', '222,50 €']);
    expect(totals!.final.value).toBe('2 486,20 €');
  });
});
