/** Documents to print, priced and stamped by the real law. */
import { atcud } from '../../src/fiscal/atcud.ts';
import {
  type Content,
  type DocumentType,
  documentTypes,
  type LineInput,
  type Transport,
} from '../../src/fiscal/document.ts';
import { qrPayload } from '../../src/fiscal/qr-payload.ts';
import { documentNumber } from '../../src/fiscal/series.ts';
import { price } from '../../src/fiscal/totals.ts';
import { unvalued } from '../../src/fiscal/transport.ts';
import type { PrintInput } from '../../src/print/input.ts';

const issuer: Content['issuer'] = {
  id: 'com_1',
  name: 'Oficina do Norte, Lda.',
  taxpayerNumber: '500000000',
  address: 'Rua de Santa Catarina, 112, 3.º Esq.',
  postalCode: '4000-447',
  city: 'Porto',
  country: 'PT',
  email: 'contas@oficinadonorte.pt',
  phone: '+351 220 000 000',
  website: 'oficinadonorte.pt',
};

const business: Content['customer'] = {
  id: 'cus_1',
  name: 'Atelier Maré Alta, Unipessoal Lda.',
  taxpayerNumber: '501442600',
  address: 'Avenida da Liberdade, 245, 7.º A',
  postalCode: '1250-143',
  city: 'Lisboa',
  country: 'PT',
};

/** One line: a service at the normal rate unless said otherwise. */
export function line(more: Partial<LineInput> & { name: string; unitPrice: string }): LineInput {
  return {
    id: 'lin_1',
    itemId: 'ite_1',
    productType: 'SERVICE',
    unit: 'UNIT',
    quantity: '1',
    vatRate: 'NORMAL',
    region: 'PT',
    ...more,
  };
}

interface Sample extends Partial<Omit<PrintInput, 'content' | 'issued'>> {
  readonly type?: DocumentType;
  readonly lines: readonly LineInput[];
  readonly sequence?: number;
  readonly content?: Partial<Content>;
}

/** A whole print input, from what is particular to it. */
export function sample({ type = 'INVOICE', lines, sequence = 1, content, ...print }: Sample): PrintInput {
  const facts = documentTypes[type];
  const date = '2026-03-06';
  const currency = content?.currency ?? 'EUR';
  const priced = price({
    lines,
    taxPoint: content?.taxPointDate ?? date,
    currency,
    exchangeRate: content?.exchangeRate,
    globalDiscount: content?.globalDiscount,
  });
  const whole: Content = { ...priced, type, issuer, customer: business, cae: '62010', currency, date, ...content };
  const stamped = {
    number: documentNumber(facts.code, 'A2026', sequence),
    sequence,
    seriesCode: 'A2026',
    atcud: atcud('AAJFF6XZ', sequence),
    date,
    systemEntry: `${date}T10:32:05`,
    hash: facts.signed ? 'j'.repeat(172) : '',
    shortHash: facts.signed ? 'jwwQ' : '',
    keyVersion: 1,
    certificateNumber: 9999,
  };
  return {
    content: whole,
    issued: { ...stamped, qr: qrPayload(whole, stamped) },
    status: 'N',
    format: 'A4',
    copy: 'Original',
    language: 'pt',
    environment: 'production',
    createdAt: new Date('2026-03-06T10:32:05Z'),
    region: 'PT',
    producer: { name: 'Fábrica de Programas, S.A.', taxpayerNumber: '508025095' },
    ...print,
  };
}

const consultancy = [
  line({
    name: 'Consultoria de design de produto',
    description: 'Sessões de fevereiro, com relatório',
    quantity: '12',
    unit: 'HOUR',
    unitPrice: '65.00',
  }),
  line({ name: 'Prototipagem e testes com utilizadores', quantity: '3', unit: 'DAY', unitPrice: '420.00' }),
  line({ name: 'Alojamento e manutenção do sítio', quantity: '1', unit: 'MONTH', unitPrice: '49.90' }),
];

const abroad: Content['customer'] = {
  id: 'cus_2',
  name: 'Ὀδυσσεὺς & Жуковский GmbH',
  taxpayerNumber: '136695976',
  address: 'Lindenstraße 14',
  postalCode: '10969',
  city: 'Berlin',
  country: 'DE',
};

/** Goods on their way, with prices or without. */
function transport(more: Partial<Transport> & Pick<Transport, 'valued'>): PrintInput {
  const goods = [
    line({ name: 'Cadeira de escritório, pele preta', quantity: '12', unitPrice: '149.90', productType: 'PRODUCT' }),
    line({
      name: 'Farinha de trigo T65',
      quantity: '250',
      unit: 'KILOGRAM',
      unitPrice: '0.89',
      productType: 'PRODUCT',
    }),
  ];
  const asked = { lines: goods, taxPoint: '2026-03-06', currency: 'EUR' };
  return sample({
    type: 'GUIA_DE_TRANSPORTE',
    lines: goods,
    content: {
      ...(more.valued ? {} : unvalued(asked)),
      transport: {
        start: '2026-03-06T11:15:00.000Z',
        loading: { address: 'Rua do Armazém, 4', postalCode: '4430-001', city: 'Vila Nova de Gaia', country: 'PT' },
        unloading: { address: 'Calle de Alcalá 96', postalCode: '28009', city: 'Madrid', country: 'ES' },
        ...more,
      },
    },
  });
}

const invoiceRef = { id: 'inv_1', number: 'FT A2026/1', date: '2026-02-27', type: 'INVOICE' } as const;

/** A receipt over an invoice: what was priced is what it settles. */
export function receipt({ content, ...more }: Omit<Sample, 'type'>): PrintInput {
  const { totals, books } = sample({ ...more, content }).content;
  const { net, tax, gross, withholding, groups } = books;
  return sample({
    type: 'RECEIPT',
    ...more,
    content: {
      parent: invoiceRef,
      payment: { method: 'Transferência bancária' },
      settles: [{ document: invoiceRef, net, tax, gross, withholding, groups }],
      totals,
      books,
      ...content,
      lines: [],
    },
  });
}

export const samples = {
  invoice: () =>
    sample({
      lines: consultancy,
      content: {
        dueDate: '2026-04-05',
        notes:
          'Pagamento por transferência bancária, com o número da fatura no descritivo.\nObrigado pela sua confiança.',
      },
      style: {
        footer: 'IBAN PT50 0002 0123 1234 5678 9015 4 · Banco do Norte\nCapital social 5 000,00 € · C.R.C. Porto',
      },
    }),
  mixed: () =>
    sample({
      sequence: 42,
      lines: [
        line({
          name: 'Caderno de argolas A5, capa dura',
          quantity: '100',
          unitPrice: '0.55',
          discount: { type: 'PERCENT', value: '8.8' },
          productType: 'PRODUCT',
        }),
        line({
          name: 'Formação em segurança alimentar',
          quantity: '2',
          unitPrice: '120',
          vatRate: 'EXEMPT',
          exemptionCode: 'M07',
        }),
        line({
          name: 'Pão de centeio',
          quantity: '40',
          unit: 'KILOGRAM',
          unitPrice: '1.234567',
          vatRate: 'REDUCED',
          productType: 'PRODUCT',
        }),
        line({
          name: 'Vinho tinto Dão DOC 2021',
          quantity: '24',
          unitPrice: '7.9',
          vatRate: 'INTERMEDIATE',
          productType: 'PRODUCT',
          discount: { type: 'AMOUNT', value: '0.40' },
        }),
        line({
          name: 'Resíduos e sucata ferrosa',
          quantity: '1.5',
          unit: 'PACKAGE',
          unitPrice: '310',
          vatRate: 'EXEMPT',
          exemptionCode: 'M30',
        }),
      ],
      content: { globalDiscount: { type: 'PERCENT', value: '10' }, dueDate: '2026-03-20', taxPointDate: '2026-03-02' },
    }),
  invoiceReceipt: () =>
    sample({
      type: 'INVOICE_RECEIPT',
      lines: [
        line({
          name: 'Projeto de arquitetura, fase 2',
          unitPrice: '1000',
          withholding: { type: 'IRS', percent: '23', reason: 'Artigo 101.º, n.º 1, alínea b) do CIRS' },
        }),
      ],
      content: {
        payment: { method: 'Transferência bancária', date: '2026-03-06' },
        issuer: { ...issuer, name: 'Inês Vasconcelos, arquiteta', taxpayerNumber: '210000007', website: undefined },
      },
      style: { colour: '#7c3aed' },
    }),
  creditNote: () =>
    sample({
      type: 'CREDIT_NOTE',
      lines: [consultancy[1]!],
      content: {
        parent: {
          id: 'inv_1',
          number: 'FT A2026/1',
          date: '2026-02-27',
          type: 'INVOICE',
          reason: 'Serviço não prestado',
        },
      },
      copy: '2.ª via',
    }),
  foreign: () =>
    sample({
      language: 'en',
      lines: [
        line({
          name: 'Industrial design retainer',
          description: 'March 2026',
          unitPrice: '2500',
          quantity: '1',
          vatRate: 'EXEMPT',
          exemptionCode: 'M40',
        }),
        line({ name: 'Prototype samples, machined', unitPrice: '189.5', quantity: '6' }),
      ],
      content: {
        currency: 'USD',
        exchangeRate: '0.9215',
        dueDate: '2026-04-05',
        customer: abroad,
      },
    }),
  consumer: () =>
    sample({
      type: 'SIMPLIFIED_INVOICE',
      lines: [line({ name: 'Corte de cabelo', unitPrice: '15.45' })],
      content: {
        customer: { id: 'cus_0', name: 'Consumidor final', finalConsumer: true },
        payment: { method: 'Numerário' },
      },
      environment: 'simulator',
    }),
  cancelled: () =>
    sample({
      lines: consultancy,
      status: 'A',
      copy: 'Duplicado',
      environment: 'test',
      content: { dueDate: '2026-04-05' },
    }),
  receipt: () => receipt({ lines: [line({ name: 'Pagamento', unitPrice: '2089.62' })] }),
  receiptWithheld: () =>
    receipt({
      lines: [
        line({
          name: 'Projeto',
          unitPrice: '1000',
          withholding: { type: 'IRS', percent: '23', reason: 'Artigo 101.º' },
        }),
      ],
    }),
  /** Under the cash VAT scheme, over an invoice with two rates. */
  receiptCashVat: () =>
    receipt({
      lines: [
        line({ name: 'Jantares', unitPrice: '180.50', vatRate: 'INTERMEDIATE' }),
        line({ name: 'Bebidas', unitPrice: '64.20' }),
      ],
      content: { cashVat: true, payment: { method: 'CC', date: '2026-03-05' } },
    }),
  receiptForeign: () =>
    receipt({
      language: 'en',
      lines: [line({ name: 'Retainer', unitPrice: '2500', vatRate: 'EXEMPT', exemptionCode: 'M40' })],
      content: { currency: 'USD', exchangeRate: '0.9215', customer: abroad },
    }),
  debitNote: () =>
    sample({
      type: 'DEBIT_NOTE',
      lines: [line({ name: 'Acerto de horas de fevereiro', unit: 'HOUR', quantity: '2', unitPrice: '65.00' })],
      content: { parent: { ...invoiceRef, reason: 'Horas em falta na fatura' }, dueDate: '2026-04-05' },
    }),
  cashVat: () => sample({ lines: consultancy, content: { cashVat: true, dueDate: '2026-04-05' } }),
  training: () => sample({ lines: consultancy, content: { training: true } }),
  recovered: () => sample({ lines: consultancy, content: { recovered: { kind: 'M', original: 'abc/00001' } } }),
  /** An invoice made of a pro forma. */
  converted: () =>
    sample({
      lines: consultancy,
      content: { origin: { id: 'pro_1', number: 'PF A2026/3', date: '2026-02-20', type: 'PROFORMA' } },
    }),
  transport: () => transport({ valued: false, licensePlate: '00-AA-00', comments: 'Frágil: manter na vertical.' }),
  /** Beyond the three copies. */
  transportFurther: () => ({ ...samples.transport(), copy: 'Cópia' as const, atDocCode: '17600000123456' }),
  transportValued: () => ({
    ...transport({ valued: true, end: '2026-03-06T14:00:00.000Z' }),
    atDocCode: '17600000123456',
  }),
  proForma: () =>
    sample({
      type: 'PROFORMA',
      lines: consultancy,
      content: { description: 'Proposta para o segundo trimestre de 2026, válida por 30 dias.' },
    }),
  long: (count = 300) =>
    sample({
      lines: Array.from({ length: count }, (_, index) =>
        line({
          name: `Artigo de catálogo n.º ${index + 1}`,
          quantity: String((index % 7) + 1),
          unitPrice: `${(index % 90) + 1}.${10 + (index % 89)}`,
          ...(index % 17 === 0 ? { description: 'Com entrega em mão, embalagem devolvida e montagem incluída' } : {}),
        }),
      ),
      content: { dueDate: '2026-04-05' },
    }),
  hostile: () =>
    sample({
      lines: [
        line({
          name: '#panic() *não* $x^2$ \\ [[a]] @ref // comentário /* */ _sub_ `raw` <label> "aspas" --- ~ ...',
          unitPrice: '1',
          description: '= título\n- lista\n#import "x"',
        }),
        line({ name: 'x'.repeat(200), unitPrice: '1' }),
        line({
          name: 'Palavra '.repeat(25).trim(),
          description: 'Ελληνικά, Кириллица, čeština 😀 张伟 \u202eotrevni',
          unitPrice: '9999999.123456',
          quantity: '99999.123456',
          discount: { type: 'PERCENT', value: '12.345678' },
        }),
      ],
      content: {
        notes: `#eval("1")\n${'Observação longa. '.repeat(60)}`,
        customer: { ...business, name: 'Σίσυφος «*Ουρανός*» #1 & Щукин, С.А.', address: 'Rua sem fim '.repeat(12) },
      },
    }),
  huge: () =>
    sample({
      lines: [
        line({
          name: 'Concessão de infraestrutura',
          unitPrice: '7999999999999.123456',
          quantity: '1',
          discount: { type: 'AMOUNT', value: '999999999999.12' },
        }),
        line({ name: 'Microunidades', unitPrice: '0.000001', quantity: '999999999999.123456' }),
      ],
    }),
};
