/**
 * Wrong input, each kind by name: what is said about it, and that nothing of it is stored. Everything wrong in a body is
 * named at once, each with its JSON pointer.
 */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../client.ts';
import type { CustomerJson, InvoiceJson, ItemJson } from '../replies.ts';
import { type CallOptions, nifFrom, type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let customer: CustomerJson;
let item: ItemJson;
let foreignCustomer: CustomerJson;
let foreignItem: ItemJson;
let draft: InvoiceJson;
let issued: InvoiceJson;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'], clock: new Date('2026-03-02T10:15:30Z') });
  ({ A, B } = service.companies);
  [customer, item, foreignCustomer, foreignItem] = await Promise.all([A.customer(), A.item(), B.customer(), B.item()]);
  issued = await A.issue(await A.draft({ customerId: customer.id, items: [{ id: item.id, quantity: 1 }] }));
  draft = await A.draft({ customerId: customer.id, items: [{ id: item.id, quantity: 1 }] });
});
afterAll(() => service.stop());

const line = (over: Record<string, unknown> = {}) => ({ id: item.id, quantity: 1, ...over });
const body = (over: Record<string, unknown> = {}) => ({
  type: 'INVOICE',
  cae: '62010',
  customerId: customer.id,
  items: [line()],
  ...over,
});
const problems = (answer: Answer) => answer.json.errors?.map(({ pointer, code }) => [pointer, code]);

/** Everything that a write could leave behind, but for the claims of keys. */
async function stored(): Promise<unknown> {
  const { rows } = await service.owner.query(
    `select (select json_agg(d order by id) from certo.documents d) as documents,
       (select json_agg(c order by id) from certo.customers c) as customers,
       (select json_agg(i order by id) from certo.items i) as items,
       (select json_agg(s order by id) from certo.series s) as series,
       (select count(*) from certo.audit) as audit`,
  );
  return rows[0];
}

let before: unknown;
beforeEach(async () => {
  before = await stored();
});

/** Sends, expects the refusal, and that nothing is stored. `expected`: a code, or [pointer, code] of each problem. */
async function refused(
  request: [method: string, path: string, options: CallOptions],
  status: number,
  expected: string | [string, string][],
): Promise<Answer> {
  const answer = await A.call(...request);
  const told = typeof expected === 'string' ? answer.json.code : problems(answer);
  expect([answer.status, told]).toEqual([status, expected]);
  if (typeof expected !== 'string') expect(answer.json.code).toBe('INVALID_REQUEST');
  expect(await stored()).toEqual(before);
  return answer;
}

const drafted = (over: Record<string, unknown>, ...expected: [string, string][]) =>
  refused(['POST', '/invoices', { body: body(over) }], 400, expected);
const raw = (path: string, text: string | Buffer, status: number, expected: string | [string, string][]) =>
  refused(['POST', path, { raw: text }], status, expected);

test('a NIF with a wrong check digit', async () => {
  const right = nifFrom('12345678');
  const wrong = right.slice(0, 8) + String((Number(right[8]) + 1) % 10);
  for (const taxpayerNumber of [wrong, '12345678', '1234567890', 'abcdefghi', '000000000', `${right} `]) {
    const options = { body: { name: 'X', country: 'PT', taxpayerNumber } };
    await refused(['POST', '/customers', options], 400, [['/taxpayerNumber', 'NIF_INVALID']]);
  }
  for (const country of ['PT', 'DE', 'US']) {
    const reserved = { body: { name: 'X', country, taxpayerNumber: '999999990' } };
    await refused(['POST', '/customers', reserved], 400, [['/taxpayerNumber', 'NIF_RESERVED']]);
  }
});

test('a tax number that is none of its country', async () => {
  const spanish = { body: { name: 'X', country: 'ES', taxpayerNumber: '123' } };
  await refused(['POST', '/customers', spanish], 400, [['/taxpayerNumber', 'TAX_ID_INVALID']]);
  const american = { body: { name: 'X', country: 'US', taxpayerNumber: '12*34' } };
  await refused(['POST', '/customers', american], 400, [['/taxpayerNumber', 'TAX_ID_INVALID']]);
});

test('an unknown field, at the top, in an entry and in an object', async () => {
  await drafted(
    { itemId: 1, items: [line({ itemId: item.id })], payment: { cash: true } },
    ['/itemId', 'UNKNOWN_FIELD'],
    ['/items/0/itemId', 'UNKNOWN_FIELD'],
    ['/payment/cash', 'UNKNOWN_FIELD'],
  );
});

test('blanks where something has to be said: a line is described, what is corrected or cancelled has its reason', async () => {
  const { id } = issued;
  for (const blank of ['   ', '\u00a0\u00a0', ' a ', '\ufeff \u3000']) {
    await drafted({ items: [line({ name: blank })] }, ['/items/0/name', 'TOO_SHORT']);
    const named = { body: { name: blank, type: 'SERVICE', unitPrice: 1, vatRate: 'NORMAL' } };
    await refused(['POST', '/items', named], 400, [['/name', 'TOO_SHORT']]);
  }
  for (const reason of [' ', '\u00a0', '\t ']) {
    const told: [string, string][] = reason.includes('\t')
      ? [
          ['/reason', 'LINE_BREAK'],
          ['/reason', 'TOO_SHORT'],
        ]
      : [['/reason', 'TOO_SHORT']];
    await drafted({ type: 'DEBIT_NOTE', parentInvoiceId: id, reason }, ...told);
    await refused(['POST', '/invoices/credit-notes', { body: { parentInvoiceId: id, reason } }], 400, told);
    await refused(['POST', `/invoices/${id}/cancel`, { body: { reason } }], 400, told);
  }
});

test('a blank description is none: the one of the catalogue stands', async () => {
  const described = await A.item({ description: 'À hora' });
  const items = [{ id: described.id, quantity: 1, description: ' \n ' }];
  const { data } = (await A.draft({ customerId: customer.id, items, description: '\n', notes: ' ' })).items[0]!;
  expect(data['description']).toBe('À hora');
});

test('an enum value in the wrong letter case', async () => {
  await drafted({ type: 'invoice' }, ['/type', 'INVALID_VALUE']);
  await drafted({ items: [line({ vatRate: 'Normal' })] }, ['/items/0/vatRate', 'INVALID_VALUE']);
  await drafted({ globalDiscountType: 'percent', globalDiscountPercent: 1 }, ['/globalDiscountType', 'INVALID_VALUE']);
  await refused(['GET', '/invoices?status=draft', {}], 400, [['?status', 'INVALID_VALUE']]);
  await refused(['GET', '/invoices?sort=createdAt:DESC', {}], 400, [['?sort', 'INVALID_VALUE']]);
});

describe('dates', () => {
  const issue = async (over: Record<string, unknown>) => {
    const one = await A.draft({ customerId: customer.id, items: [line()], ...over });
    before = await stored();
    return ['POST', `/invoices/${one.id}/issue`, { body: { expectedUpdatedAt: one.updatedAt } }] as const;
  };

  test('a date before the last of the series', async () => {
    const answer = await refused([...(await issue({ date: '2026-03-01' }))], 400, 'DATE_GOES_BACK');
    expect(answer.json.detail).toContain('2026-03-01');
    expect(answer.json.detail).toContain('2026-03-02');
  });

  test('a future date', async () => {
    await refused([...(await issue({ date: '2026-03-03' }))], 400, 'DATE_IN_FUTURE');
    await refused([...(await issue({ date: '2026-03-03T00:00:00Z' }))], 400, 'DATE_IN_FUTURE');
  });

  test.each(['2026-02-30', '2026-3-2', '02/03/2026', '2026-03-02T10:00:00', '2026-03-02 10:00Z', '', '2026-13-01'])(
    'what is no date: %s',
    async (date) => {
      await drafted(
        { date, taxPointDate: date, dueDate: date },
        ['/date', 'INVALID_FORMAT'],
        ['/taxPointDate', 'INVALID_FORMAT'],
        ['/dueDate', 'INVALID_FORMAT'],
      );
      await refused(['GET', `/invoices?fromDate=${encodeURIComponent(date)}`, {}], 400, [
        ['?fromDate', 'INVALID_FORMAT'],
      ]);
    },
  );

  test('due before it is dated', async () => {
    await drafted({ date: '2026-03-02', dueDate: '2026-03-01' }, ['/dueDate', 'DUE_BEFORE_DATE']);
  });

  test('a tax point before there were rates', async () => {
    await drafted({ taxPointDate: '2010-12-31' }, ['/items/0/vatRate', 'VAT_RATE_NOT_IN_FORCE']);
  });
});

describe('discounts', () => {
  test('outside 0 to 100 %', async () => {
    await drafted(
      { globalDiscountPercent: 100.01, items: [line({ unitDiscountPercent: -1 }), line({ unitDiscountPercent: 101 })] },
      ['/items/0/unitDiscountPercent', 'TOO_SMALL'],
      ['/items/1/unitDiscountPercent', 'TOO_LARGE'],
      ['/globalDiscountPercent', 'TOO_LARGE'],
    );
  });

  test('more money than there is', async () => {
    await drafted({ items: [line(), line({ unitDiscountAmount: 10.01 })] }, [
      '/items/1/unitDiscountAmount',
      'DISCOUNT_OUT_OF_RANGE',
    ]);
    await drafted({ globalDiscountAmount: 10.01 }, ['/globalDiscountAmount', 'DISCOUNT_OUT_OF_RANGE']);
  });

  test('of a kind that its value is not', async () => {
    await drafted(
      { globalDiscountType: 'PERCENT', globalDiscountAmount: 1, items: [line({ unitDiscountType: 'AMOUNT' })] },
      ['/globalDiscountType', 'DISCOUNT_INCOMPLETE'],
      ['/items/0/unitDiscountType', 'DISCOUNT_INCOMPLETE'],
    );
    await drafted({ globalDiscountPercent: 1, globalDiscountAmount: 1 }, [
      '/globalDiscountType',
      'DISCOUNT_INCOMPLETE',
    ]);
  });
});

describe('exemptions', () => {
  test('an exempt line without a code', async () => {
    await drafted({ items: [line({ vatRate: 'EXEMPT' })] }, ['/items/0/vatExemptionReason', 'EXEMPTION_REQUIRED']);
    const options = { body: { name: 'Livro', type: 'PRODUCT', unitPrice: 1, vatRate: 'EXEMPT' } };
    await refused(['POST', '/items', options], 400, [['/vatExemptionReason', 'EXEMPTION_REQUIRED']]);
  });

  test('a code on a line that is not exempt', async () => {
    await drafted({ items: [line({ vatExemptionReason: 'M07' })] }, [
      '/items/0/vatExemptionReason',
      'EXEMPTION_NOT_ALLOWED',
    ]);
  });

  test('a code that ended, that never was, or in the wrong letter case', async () => {
    for (const vatExemptionReason of ['M03', 'M08', 'M26', 'M98', 'm07', 'M7']) {
      const entry = line({ vatRate: 'EXEMPT', vatExemptionReason });
      await drafted({ items: [entry] }, ['/items/0/vatExemptionReason', 'EXEMPTION_UNKNOWN']);
    }
  });
});

describe('records of others', () => {
  test('an item or a customer of another company is an unknown one: 400 with its place', async () => {
    const theirs = await drafted(
      { customerId: foreignCustomer.id, items: [line(), line({ id: foreignItem.id })] },
      ['/customerId', 'UNKNOWN_CUSTOMER'],
      ['/items/1/id', 'UNKNOWN_ITEM'],
    );
    const nobodys = await drafted(
      { customerId: uuidv7(), items: [line(), line({ id: uuidv7() })] },
      ['/customerId', 'UNKNOWN_CUSTOMER'],
      ['/items/1/id', 'UNKNOWN_ITEM'],
    );
    expect({ ...theirs.json, requestId: '' }).toEqual({ ...nobodys.json, requestId: '' });
  });

  test('nothing but unknown items, with a series or a template: no fault of ours is logged', async () => {
    for (const named of [{ seriesId: A.series.INVOICE.id }, { templateId: '00000000-0000-7000-8000-000000000001' }]) {
      const [entry, logged] = [line({ id: uuidv7() }), service.logs.length];
      await drafted({ ...named, items: [entry] }, ['/items/0/id', 'UNKNOWN_ITEM']);
      const levels = service.logs.slice(logged).map((text) => (JSON.parse(text) as { level: number }).level);
      expect(levels.filter((level) => level > 30)).toEqual([]);
    }
  });

  test('a series of another company, or of another type', async () => {
    for (const seriesId of [B.series.INVOICE.id, A.series.DEBIT_NOTE.id, uuidv7()])
      await drafted({ seriesId }, ['/seriesId', 'UNKNOWN_SERIES']);
  });

  test('an invoice of another company to correct, a draft, or none at all', async () => {
    const theirs = await B.issue(await B.draft());
    before = await stored();
    for (const parentInvoiceId of [theirs.id, draft.id, uuidv7()])
      await drafted({ type: 'DEBIT_NOTE', parentInvoiceId, reason: 'Erro' }, ['/parentInvoiceId', 'UNKNOWN_PARENT']);
  });

  test('a debit note for somebody else, in another currency or at another rate than its invoice', async () => {
    const euros = await A.issue(await A.draft({ customerId: customer.id }));
    const dollars = await A.issue(
      await A.draft({ customerId: customer.id, currency: 'USD', exchangeRate: 0.9, items: [line()] }),
    );
    const other = await A.customer({ name: 'Outro' });
    before = await stored();
    const note = { type: 'DEBIT_NOTE', reason: 'Preço' };
    const ofEuros = { ...note, parentInvoiceId: euros.id };
    const ofDollars = { ...note, parentInvoiceId: dollars.id };
    await drafted({ ...ofEuros, customerId: other.id }, ['/customerId', 'PARENT_DIFFERS']);
    await drafted({ ...ofEuros, currency: 'USD', exchangeRate: 0.9 }, ['/currency', 'PARENT_DIFFERS']);
    await drafted(ofDollars, ['/currency', 'PARENT_DIFFERS']);
    await drafted({ ...ofDollars, currency: 'USD', exchangeRate: 0.8 }, ['/exchangeRate', 'PARENT_DIFFERS']);
    await drafted(
      { ...ofDollars, customerId: other.id, currency: 'GBP', exchangeRate: 0.8 },
      ['/customerId', 'PARENT_DIFFERS'],
      ['/currency', 'PARENT_DIFFERS'],
      ['/exchangeRate', 'PARENT_DIFFERS'],
    );
    await drafted(
      { ...ofEuros, customerId: other.id, currency: 'USD' },
      ['/customerId', 'PARENT_DIFFERS'],
      ['/currency', 'PARENT_DIFFERS'],
    );
    const right = { ...ofDollars, customerId: customer.id, currency: 'USD', exchangeRate: 0.9 };
    expect((await A.issue(await A.draft(right))).parentInvoiceId).toBe(dollars.id);
    before = await stored();
  });

  test('a debit note that is taxed otherwise than its invoice', async () => {
    const euros = await A.issue(await A.draft({ customerId: customer.id, items: [line()] }));
    const madeira = await A.item({ name: 'Poncha', vatTerritory: 'MADEIRA' });
    const exempt = { vatRate: 'EXEMPT', vatExemptionReason: 'M07' };
    const note = { type: 'DEBIT_NOTE', reason: 'Preço', parentInvoiceId: euros.id, customerId: customer.id };
    before = await stored();
    const refusedNote = await drafted(
      { ...note, items: [line(), line(exempt), line({ vatRate: 'REDUCED' }), line({ id: madeira.id })] },
      ['/items/1/vatRate', 'RATE_NOT_OF_PARENT'],
      ['/items/2/vatRate', 'RATE_NOT_OF_PARENT'],
      ['/items/3/vatRate', 'RATE_NOT_OF_PARENT'],
    );
    expect(refusedNote.json.errors?.[0]?.message).toContain('corrects: 23 % (PT).');
    // What can't be priced at all is told alone, an unknown item too.
    await drafted(
      { ...note, items: [line({ id: uuidv7() }), line({ vatRate: 'REDUCED' })] },
      ['/items/0/id', 'UNKNOWN_ITEM'],
      ['/items/1/vatRate', 'RATE_NOT_OF_PARENT'],
    );
    const right = await A.draft({ ...note, items: [line()] });
    before = await stored();
    const changed = { body: { items: [line({ vatRate: 'INTERMEDIATE' })] } };
    await refused(['PATCH', `/invoices/${right.id}`, changed], 400, [['/items/0/vatRate', 'RATE_NOT_OF_PARENT']]);
    expect((await A.issue(right)).parentInvoiceId).toBe(euros.id);
    before = await stored();
  });

  test('PATCH says the same', async () => {
    const options = { body: { customerId: foreignCustomer.id, items: [line({ id: foreignItem.id })] } };
    await refused(['PATCH', `/invoices/${draft.id}`, options], 400, [
      ['/customerId', 'UNKNOWN_CUSTOMER'],
      ['/items/0/id', 'UNKNOWN_ITEM'],
    ]);
  });

  test('in the path: 404', async () => {
    const theirs = await B.draft();
    before = await stored();
    for (const id of [theirs.id, uuidv7()]) {
      await refused(['GET', `/invoices/${id}`, {}], 404, 'INVOICE_NOT_FOUND');
      await refused(['PATCH', `/invoices/${id}`, { body: { notes: 'x' } }], 404, 'INVOICE_NOT_FOUND');
      await refused(['DELETE', `/invoices/${id}`, {}], 404, 'INVOICE_NOT_FOUND');
      const issue = { body: { expectedUpdatedAt: theirs.updatedAt } };
      await refused(['POST', `/invoices/${id}/issue`, issue], 404, 'INVOICE_NOT_FOUND');
    }
    await refused(['PATCH', `/customers/${foreignCustomer.id}`, { body: { city: 'X' } }], 404, 'CUSTOMER_NOT_FOUND');
    await refused(['DELETE', `/items/${foreignItem.id}`, {}], 404, 'ITEM_NOT_FOUND');
  });

  test('in a filter: nothing', async () => {
    const answer = await A.get<InvoiceJson[]>(`/invoices?parentInvoiceId=${uuidv7()}`);
    expect([answer.status, answer.json]).toEqual([200, []]);
  });
});

describe('numbers', () => {
  test('a quantity that is negative, zero or too fine', async () => {
    await drafted({ items: [line({ quantity: -1 })] }, ['/items/0/quantity', 'TOO_SMALL']);
    await drafted({ items: [line({ quantity: 0 })] }, ['/items/0/quantity', 'TOO_SMALL']);
    await drafted({ items: [line({ quantity: 0.0000001 })] }, ['/items/0/quantity', 'TOO_MANY_DECIMALS']);
    await drafted({ items: [line({ quantity: 1e9 })] }, ['/items/0/quantity', 'TOO_LARGE']);
  });

  test('an amount with 3 decimals', async () => {
    await drafted(
      { globalDiscountAmount: 1.005, items: [line({ unitDiscountAmount: 0.001 })] },
      ['/items/0/unitDiscountAmount', 'TOO_MANY_DECIMALS'],
      ['/globalDiscountAmount', 'TOO_MANY_DECIMALS'],
    );
  });

  test('a negative price, a price with 7 decimals, totals beyond 1e13', async () => {
    await drafted({ items: [line({ unitPrice: -0.01 })] }, ['/items/0/unitPrice', 'TOO_SMALL']);
    await drafted({ items: [line({ unitPrice: 0.1234567 })] }, ['/items/0/unitPrice', 'TOO_MANY_DECIMALS']);
    await drafted({ items: [line({ unitPrice: 999999999, quantity: 999999999 })] }, ['/items', 'AMOUNT_TOO_LARGE']);
  });

  test('1e400, and digits that a number cannot keep', async () => {
    const withQuantity = (literal: string) => JSON.stringify(body()).replace('"quantity":1', `"quantity":${literal}`);
    for (const literal of ['1e400', '9007199254740993', '1.00000000000000000001'])
      await raw('/invoices', withQuantity(literal), 400, [['/items/0/quantity', 'NUMBER_NOT_EXACT']]);
  });

  test('text instead of a number, null instead of a text: no coercion', async () => {
    await drafted(
      { notes: null, items: [line({ quantity: '1' }), line({ unitPrice: true })], description: 1, customerId: 5 },
      ['/customerId', 'INVALID_TYPE'],
      ['/items/0/quantity', 'INVALID_TYPE'],
      ['/items/1/unitPrice', 'INVALID_TYPE'],
      ['/description', 'INVALID_TYPE'],
      ['/notes', 'INVALID_TYPE'],
    );
  });
});

describe('characters', () => {
  test.each([
    ['NUL', '\u0000', 'U+0000'],
    ['one that XML cannot hold', '\u000b', 'U+000B'],
    ['another one', '\uffff', 'U+FFFF'],
    ['a lone high surrogate', '\ud83d', 'U+D83D'],
    ['a lone low surrogate', 'a\ude00', 'U+DE00'],
    ['two low surrogates after a pair', '😀\ude00', 'U+DE00'],
  ])('%s', async (_what, text, told) => {
    const answer = await drafted({ notes: `a${text}b` }, ['/notes', 'INVALID_CHARACTER']);
    expect(answer.json.errors?.[0]?.message).toContain(told);
    await refused(['POST', '/customers', { body: { name: `a${text}`, country: 'PT' } }], 400, [
      ['/name', 'INVALID_CHARACTER'],
    ]);
  });

  test.each([
    ['marks on one letter', `a${'\u0344'.repeat(1200)}${'\u0321'.repeat(799)}`, 'U+0344'],
    ['more of them once they are taken apart', 'ḯ'.normalize('NFC') + '\u0344'.repeat(15), 'U+0308'],
    ['halfwidth ones, which become marks', `ｶ${'\uff9e\uff9f'.repeat(16)}`, 'U+FF9E'],
    ['signs for several words', '\ufdfa'.repeat(2000), 'U+FDFA'],
  ])('too many %s', async (_what, text, told) => {
    const answer = await drafted(
      { notes: text, description: text },
      ...(['/notes', '/description'] as const).map((at): [string, string] => [at, 'OVERLOADED_TEXT']),
    );
    expect(answer.json.errors?.[0]?.message).toContain(told);
    await refused(['PATCH', `/items/${item.id}`, { body: { description: text } }], 400, [
      ['/description', 'OVERLOADED_TEXT'],
    ]);
    const search = encodeURIComponent(text.slice(0, 254));
    await refused(['GET', `/invoices?search=${search}`, {}], 400, [['?search', 'OVERLOADED_TEXT']]);
  });

  test('NUL in a query', async () => {
    await refused(['GET', '/customers?search=a%00b', {}], 400, [['?search', 'INVALID_CHARACTER']]);
  });

  test('line breaks stand in description and notes only', async () => {
    for (const breaking of ['\n', '\r', '\t', '\u0085', '\u2028'])
      await drafted({ items: [line({ name: `a${breaking}b` })] }, ['/items/0/name', 'LINE_BREAK']);
    const answer = await A.post<InvoiceJson>('/invoices', body({ notes: 'a\nb', description: 'c\nd' }));
    expect([answer.status, answer.json.notes]).toEqual([201, 'a\nb']);
  });

  test('every character that a font prints is kept as it is', async () => {
    const name = 'Ação Ωμέγα Ж 漢字 か 葛\u{e0100} é & < > " \' ; * | %';
    const made = await A.customer({ name });
    expect((await A.get<CustomerJson>(`/customers/${made.id}`)).json.name).toBe(name);
  });
});

describe('the form of the body', () => {
  test('2 MiB', async () => {
    await raw('/invoices', JSON.stringify(body({ notes: 'x'.repeat(2 * 1024 * 1024) })), 413, 'BODY_TOO_LARGE');
  });

  test('malformed JSON', async () => {
    const answer = await raw('/invoices', '{"type":"INVOICE",}', 400, 'MALFORMED_JSON');
    expect(answer.json.detail).toContain('position 18');
  });

  test('a member given twice', async () => {
    const twice = JSON.stringify(body()).replace('"quantity":1', '"quantity":1,"quantity":2');
    await raw('/invoices', twice, 400, [['/items/0/quantity', 'DUPLICATE_FIELD']]);
  });

  test('__proto__, constructor and toString are unknown fields', async () => {
    const text = JSON.stringify(body()).replace('{', '{"__proto__":{"x":1},"constructor":1,"toString":2,');
    await raw('/invoices', text, 400, [
      ['/__proto__', 'UNKNOWN_FIELD'],
      ['/constructor', 'UNKNOWN_FIELD'],
      ['/toString', 'UNKNOWN_FIELD'],
    ]);
    await raw('/customers', '{"country":"PT","__proto__":{"name":"X"}}', 400, [
      ['/__proto__', 'UNKNOWN_FIELD'],
      ['/name', 'REQUIRED'],
    ]);
  });

  test('JSON as deep as it is long', async () => {
    await raw('/invoices', '['.repeat(500_000) + ']'.repeat(500_000), 400, 'MALFORMED_JSON');
    await raw('/invoices', `{"notes":${'['.repeat(32)}${']'.repeat(32)}}`, 400, 'MALFORMED_JSON');
  });

  test('too many lines, and none', async () => {
    await drafted({ items: Array.from({ length: 1001 }, () => line()) }, ['/items', 'TOO_MANY']);
    await drafted({ items: [] }, ['/items', 'TOO_FEW']);
  });

  test('everything that is missing', async () => {
    await refused(['POST', '/invoices', { body: {} }], 400, [
      ['/type', 'REQUIRED'],
      ['/cae', 'REQUIRED'],
      ['/customerId', 'REQUIRED'],
      ['/items', 'REQUIRED'],
    ]);
    await refused(['POST', '/items', { body: {} }], 400, [
      ['/name', 'REQUIRED'],
      ['/type', 'REQUIRED'],
      ['/unitPrice', 'REQUIRED'],
      ['/vatRate', 'REQUIRED'],
    ]);
    await refused(['POST', '/customers', { body: {} }], 400, [
      ['/country', 'REQUIRED'],
      ['/name', 'REQUIRED'],
    ]);
    // What is there is not missing, whatever is wrong with it.
    for (const name of ['name', 'companyName', 'firstName'])
      await refused(['POST', '/customers', { body: { [name]: 7, lastName: 'B', country: 'PT' } }], 400, [
        [`/${name}`, 'INVALID_TYPE'],
      ]);
    await refused(['POST', `/invoices/${draft.id}/issue`, { body: {} }], 400, [['/expectedUpdatedAt', 'REQUIRED']]);
  });

  test('everything wrong is named at once, at most fifty', async () => {
    const answer = await A.post('/invoices?a=1', {
      type: 'FATURA',
      cae: '6201',
      customerId: 'x',
      items: [{ id: 'x', quantity: -1, name: 'a', unitDiscountPercent: 1, unitDiscountAmount: 1 }],
      currency: 'eur',
      notes: 'x'.repeat(2001),
      payment: { method: 'conchas' },
      surprise: true,
    });
    expect(answer.json.errors?.map(({ pointer }) => pointer).toSorted()).toEqual(
      [
        '/cae',
        '/currency',
        '/customerId',
        '/items/0/id',
        '/items/0/name',
        '/items/0/quantity',
        '/items/0/unitDiscountType',
        '/notes',
        '/payment/method',
        '/surprise',
        '/type',
        '?a',
      ].toSorted(),
    );
    const method = answer.json.errors?.find(({ pointer }) => pointer === '/payment/method');
    expect(method?.message).toContain('MB, NU, OU, PR');
    expect(answer.json.detail).toContain('12 problem');
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`f${i}`, 1]));
    const refused = await A.post('/invoices', body(many));
    expect(refused.json.errors).toHaveLength(50);
    expect(refused.json.detail).toMatch(
      /^The request has 50\+ problems: errors says what is wrong, and where \(up to 50\)\./,
    );
    const lines = await A.post('/invoices', body({ items: Array.from({ length: 10_000 }, () => ({ id: 7 })) }));
    expect(lines.json.errors).toHaveLength(50);
    expect(lines.json.errors?.map(({ code }) => code)).toContain('TOO_MANY');
    expect(await stored()).toEqual(before);
  });
});

describe('references that do not fit, all named at once', () => {
  test('an activity of somebody else, a template, a payment and a parent out of place', async () => {
    await drafted(
      {
        cae: '99999',
        templateId: uuidv7(),
        payment: { method: 'MB' },
        parentInvoiceId: issued.id,
        reason: 'x',
        customerId: uuidv7(),
      },
      ['/cae', 'CAE_NOT_OF_COMPANY'],
      ['/customerId', 'UNKNOWN_CUSTOMER'],
      ['/templateId', 'UNKNOWN_TEMPLATE'],
      ['/parentInvoiceId', 'PARENT_NOT_ALLOWED'],
      ['/reason', 'PARENT_NOT_ALLOWED'],
      ['/payment', 'PAYMENT_NOT_ALLOWED'],
    );
  });

  test('what is wrong with the other lines is named beside an unknown item', async () => {
    await drafted(
      {
        globalDiscountAmount: 50,
        items: [
          line({ id: uuidv7(), vatRate: 'EXEMPT' }),
          line({ vatRate: 'EXEMPT' }),
          line({ unitDiscountAmount: 11 }),
        ],
      },
      ['/items/0/id', 'UNKNOWN_ITEM'],
      ['/items/1/vatExemptionReason', 'EXEMPTION_REQUIRED'],
      ['/items/2/unitDiscountAmount', 'DISCOUNT_OUT_OF_RANGE'],
    );
  });

  test('what is archived', async () => {
    const [goneCustomer, goneItem] = [await A.customer(), await A.item()];
    await A.delete(`/customers/${goneCustomer.id}`);
    await A.delete(`/items/${goneItem.id}`);
    before = await stored();
    await drafted(
      { customerId: goneCustomer.id, items: [line(), line({ id: goneItem.id })] },
      ['/customerId', 'ARCHIVED'],
      ['/items/1/id', 'ARCHIVED'],
    );
  });

  test('types that are made elsewhere', async () => {
    await refused(['POST', '/invoices', { body: body({ type: 'CREDIT_NOTE' }) }], 400, 'USE_OTHER_ENDPOINT');
    await refused(['POST', '/invoices', { body: body({ type: 'RECEIPT' }) }], 400, 'USE_OTHER_ENDPOINT');
  });

  test('a draft does not become what is made elsewhere', async () => {
    for (const type of ['CREDIT_NOTE', 'RECEIPT'])
      await refused(['PATCH', `/invoices/${draft.id}`, { body: { type } }], 400, 'USE_OTHER_ENDPOINT');
    await refused(['PATCH', `/invoices/${draft.id}`, { body: { type: 'PROFORMA' } }], 400, [
      ['/type', 'INVALID_VALUE'],
    ]);
  });
});

describe('what is issued', () => {
  test('cannot be changed, deleted or issued again', async () => {
    const { id, updatedAt } = issued;
    await refused(['PATCH', `/invoices/${id}`, { body: { notes: 'x' } }], 400, 'INVALID_STATE');
    await refused(['DELETE', `/invoices/${id}`, {}], 400, 'INVALID_STATE');
    await refused(['POST', `/invoices/${id}/issue`, { body: { expectedUpdatedAt: updatedAt } }], 400, 'INVALID_STATE');
  });

  test('the final consumer of the system cannot be changed or archived', async () => {
    const [system] = (await A.get<CustomerJson[]>('/customers?system=true')).json;
    await refused(['PATCH', `/customers/${system!.id}`, { body: { city: 'X' } }], 400, 'SYSTEM_CUSTOMER');
    await refused(['DELETE', `/customers/${system!.id}`, {}], 400, 'SYSTEM_CUSTOMER');
  });
});

test('lists refuse pages that do not exist', async () => {
  for (const path of ['/customers', '/items', '/invoices']) {
    for (const [query, code] of [
      ['limit=0', 'TOO_SMALL'],
      ['limit=101', 'TOO_LARGE'],
      ['limit=1.5', 'INVALID_TYPE'],
      ['limit=', 'INVALID_TYPE'],
      ['limit=ten', 'INVALID_TYPE'],
      ['limit=1&limit=2', 'INVALID_TYPE'],
      ['offset=-1', 'TOO_SMALL'],
      ['sort=city:asc', 'INVALID_VALUE'],
      ['sort=createdAt', 'INVALID_VALUE'],
    ] as const) {
      await refused(['GET', `${path}?${query}`, {}], 400, [[`?${query.split('=')[0]}`, code]]);
    }
  }
});

test('masters refuse what documents could not carry', async () => {
  const customerBody = (over: Record<string, unknown>) => ({ body: { name: 'X', country: 'PT', ...over } });
  await refused(['POST', '/customers', customerBody({ country: 'pt' })], 400, [['/country', 'INVALID_FORMAT']]);
  await refused(['POST', '/customers', customerBody({ country: 'XX' })], 400, [['/country', 'INVALID_FORMAT']]);
  await refused(['POST', '/customers', customerBody({ postalCode: '1000' })], 400, [['/postalCode', 'INVALID_FORMAT']]);
  await refused(['POST', '/customers', customerBody({ email: 'x' })], 400, [['/email', 'INVALID_FORMAT']]);
  await refused(['POST', '/customers', customerBody({ name: 'x'.repeat(101) })], 400, [['/name', 'TOO_LONG']]);
  // SAF-T takes as many; a longer one would be missing there.
  const website = 'x'.repeat(61);
  await refused(['POST', '/customers', customerBody({ website })], 400, [['/website', 'TOO_LONG']]);
  await refused(['PATCH', `/customers/${customer.id}`, { body: { website } }], 400, [['/website', 'TOO_LONG']]);
  await refused(['POST', '/customers', customerBody({ system: true })], 400, [['/system', 'SYSTEM_RESERVED']]);
  const itemBody = (over: Record<string, unknown>) => ({
    body: { name: 'Caneta', type: 'PRODUCT', unitPrice: 1, vatRate: 'NORMAL', ...over },
  });
  await refused(['POST', '/items', itemBody({ name: 'X' })], 400, [['/name', 'TOO_SHORT']]);
  await refused(['POST', '/items', itemBody({ name: 'x'.repeat(201) })], 400, [['/name', 'TOO_LONG']]);
  await refused(['POST', '/items', itemBody({ unitPrice: -1 })], 400, [['/unitPrice', 'TOO_SMALL']]);
  await refused(['POST', '/items', itemBody({ taxRate: 22 })], 400, [['/taxRate', 'VAT_RATE_NOT_IN_FORCE']]);
  await refused(['POST', '/items', itemBody({ isAutoVATEnabled: false })], 400, [['/taxRate', 'REQUIRED']]);
  await refused(['POST', '/items', itemBody({ withholdingTaxPercent: 101 })], 400, [
    ['/withholdingTaxPercent', 'TOO_LARGE'],
  ]);
  await refused(['POST', '/items', itemBody({ withholdingTaxAvailable: true })], 400, [
    ['/withholdingTaxType', 'WITHHOLDING_INCOMPLETE'],
    ['/withholdingTaxPercent', 'WITHHOLDING_INCOMPLETE'],
  ]);
});

test('a path that cannot be decoded is no HTTP of ours', async () => {
  const answer = await service.call('GET', '/customers/%zz');
  expect([answer.status, answer.json.code]).toEqual([400, 'BAD_HTTP']);
});

test('an address with nothing at it: 404', async () => {
  for (const path of ['/nothing', '/Invoices', '/invoices/x/y/z', '//invoices']) {
    const answer = await service.call('GET', path, { key: null });
    expect([path, answer.status, answer.json.code]).toEqual([path, 404, 'ROUTE_NOT_FOUND']);
  }
});
