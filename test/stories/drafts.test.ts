/** Customers, items and drafts over the wire: what is made, shown, listed, changed and kept. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Refused } from '../client.ts';
import type { CustomerJson, InvoiceEntryJson, InvoiceJson, ItemJson, SeriesJson } from '../replies.ts';
import { nifFrom, type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let Z: TestCompany;

const noon = new Date('2026-03-02T12:00:00Z');
beforeAll(async () => {
  service = await startService({ clock: noon });
  ({ A, B, Z } = service.companies);
});
afterAll(() => service.stop());

describe('customers', () => {
  test('every field comes back, and an empty text clears it', async () => {
    const fields = {
      name: 'Casa da Música, Lda',
      firstName: 'Ana',
      lastName: 'Sousa',
      companyName: 'Casa da Música',
      companyPosition: 'Gerente',
      taxpayerNumber: nifFrom('50123456'),
      email: 'ana@example.pt',
      website: 'https://example.pt',
      description: 'Boa\npagadora',
      address: 'Rua Um, 1',
      postalCode: '4000-001',
      city: 'Porto',
      country: 'PT',
      phone: '220000000',
      fax: '220000001',
      mobile: '910000000',
    };
    const made = await A.customer(fields);
    expect(made).toEqual({
      ...fields,
      id: expect.any(String),
      system: false,
      isArchived: false,
      createdAt: expect.stringMatching(/^2026-03-02T12:00:\d\d\.\d{3}Z$/),
      updatedAt: made.createdAt,
    });
    expect((await A.get(`/customers/${made.id}`)).json).toEqual(made);
    const cleared = await A.patch<CustomerJson>(`/customers/${made.id}`, { email: '', city: '', website: '' });
    const { email: _e, city: _c, website: _w, ...rest } = made as unknown as Record<string, unknown>;
    expect(cleared.json).toEqual({ ...rest, updatedAt: expect.any(String) });
    expect(Date.parse(cleared.json.updatedAt)).toBeGreaterThan(Date.parse(made.updatedAt));
  });

  test('a website from before there was a bound is shown, found, and kept by a change of something else', async () => {
    const { id } = await A.customer({ name: 'Sítio Antigo' });
    const website = `https://${'a'.repeat(240)}.pt`;
    await service.owner.query('update certo.customers set website = $2 where id = $1', [id, website]);
    expect((await A.get(`/customers/${id}`)).json).toMatchObject({ website });
    expect((await A.get<CustomerJson[]>(`/customers?website=${website}`)).json.map((one) => one.id)).toEqual([id]);
    expect((await A.patch(`/customers/${id}`, { city: 'Faro' })).json).toMatchObject({ website, city: 'Faro' });
    const longest = 'a'.repeat(60);
    expect((await A.patch(`/customers/${id}`, { website: longest })).json).toMatchObject({ website: longest });
  });

  test('isArchived and system are fields of every body, as far as they say what can be', async () => {
    const body = { name: 'Rui', country: 'PT' };
    for (const isArchived of [true, false]) {
      const { status, json } = await A.post<CustomerJson>('/customers', { ...body, isArchived, system: false });
      expect([status, json.isArchived, json.system]).toEqual([201, isArchived, false]);
      expect((await A.patch(`/customers/${json.id}`, { system: false })).status).toBe(200);
      expect((await A.patch(`/customers/${json.id}`, { system: true })).json.errors).toMatchObject([
        { pointer: '/system', code: 'SYSTEM_RESERVED' },
      ]);
      const item = { name: 'Coisa', type: 'PRODUCT', unitPrice: 1, vatRate: 'NORMAL', isArchived };
      const made = await A.post<ItemJson>('/items', item);
      expect([made.status, made.json.isArchived]).toEqual([201, isArchived]);
    }
    expect((await A.post('/customers', { ...body, system: true })).json.errors).toMatchObject([
      { pointer: '/system', code: 'SYSTEM_RESERVED' },
    ]);
  });

  test('a number of the EU is found as it was entered and as it is kept, and no other country’s with it', async () => {
    const made = async (country: string, taxpayerNumber: string) => (await A.customer({ country, taxpayerNumber })).id;
    const ana = await made('ES', 'ESB12345674');
    const luz = await made('ES', 'c-7654321.d');
    const german = await made('DE', '123 456 789');
    const american = await made('US', '123456789');
    const greek = await made('GR', 'EL123456789');
    const portuguese = await made('PT', '123456789');
    for (const [number, ...ids] of [
      ['ESB12345674', ana],
      ['B12345674', ana],
      ['c-7654321.d', luz],
      ['c7654321d', luz],
      ['es C7654321D', luz],
      ['DE123456789', german],
      ['el 123456789', greek],
      ['123 456 789', greek, german],
      ['123456789', portuguese, greek, american, german],
      ['PT123456789'],
    ] as const) {
      const found = await A.get<CustomerJson[]>(`/customers?taxpayerNumber=${encodeURIComponent(number)}`);
      expect([number, found.json.map(({ id }) => id)]).toEqual([number, ids]);
    }
  });

  test('the name shown: its own, else the company’s, else first and last', async () => {
    expect((await A.customer({ companyName: 'Firma', name: undefined })).name).toBe('Firma');
    expect((await A.customer({ firstName: 'Rui', lastName: 'Melo', name: undefined })).name).toBe('Rui Melo');
    const longest = { firstName: 'R'.repeat(97), lastName: '葛\u{e0100}', country: 'PT' };
    const long = await A.post<{ id: string; name: string }>('/customers', longest);
    expect(long.json.name).toBe(`${longest.firstName} 葛\u{e0100}`);
    for (const answer of [
      await A.post('/customers', { ...longest, lastName: '葛葛\u{e0100}' }),
      await A.patch(`/customers/${long.json.id}`, { lastName: '葛葛\u{e0100}' }),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual([{ pointer: '/name', code: 'TOO_LONG', message: 'At most 100 characters.' }]);
    }
    const refused = await A.post('/customers', { firstName: 'Rui', country: 'PT' });
    expect(refused.json.errors).toEqual([expect.objectContaining({ pointer: '/name', code: 'REQUIRED' })]);
  });

  test('a foreign number is kept without its VIES prefix, in the form of its country', async () => {
    const spanish = await A.customer({ country: 'ES', taxpayerNumber: 'ES B12345678' });
    expect(spanish.taxpayerNumber).toBe('B12345678');
    expect((await A.customer({ country: 'US', taxpayerNumber: '12-3456789' })).taxpayerNumber).toBe('12-3456789');
  });

  test('archived: out of the list and of new drafts, back with PATCH', async () => {
    const made = await A.customer({ name: 'Arquivada' });
    const gone = await A.delete<CustomerJson>(`/customers/${made.id}`);
    expect([gone.status, gone.json.isArchived]).toEqual([200, true]);
    const listed = async (query = '') =>
      (await A.get<CustomerJson[]>(`/customers?name=Arquivada${query}`)).json.map(({ id }) => id);
    expect(await listed()).toEqual([]);
    expect(await listed('&isArchived=true')).toEqual([made.id]);
    expect((await A.get<CustomerJson>(`/customers/${made.id}`)).json.isArchived).toBe(true);
    expect((await A.delete<CustomerJson>(`/customers/${made.id}`)).json.isArchived).toBe(true);
    const back = await A.patch<CustomerJson>(`/customers/${made.id}`, { isArchived: false });
    expect(back.json.isArchived).toBe(false);
    expect(await listed()).toEqual([made.id]);
  });

  test('the list filters by each field, ignoring case and accents', async () => {
    const one = await B.customer({
      name: 'Ângela Patrício',
      firstName: 'Ângela',
      lastName: 'Patrício',
      companyName: 'Ângela & Filhos',
      companyPosition: 'Sócia',
      taxpayerNumber: nifFrom('21234567'),
      email: 'Angela@Example.pt',
      website: 'https://angela.example',
      description: 'Cliente de Évora',
      address: 'Praça do Giraldo',
      postalCode: '7000-508',
      city: 'Évora',
      country: 'PT',
      phone: '266111222',
      fax: '266333444',
      mobile: '966777888',
    });
    await B.customer({ name: 'Zé Ninguém', country: 'ES' });
    for (const [query, found] of [
      ['search=angela', 1],
      ['search=%C3%82NGELA%20p', 1],
      ['search=EXAMPLE.PT', 1],
      [`search=${nifFrom('21234567').slice(2, 7)}`, 1],
      ['search=nada', 0],
      ['name=patricio', 1],
      ['firstName=ANGELA', 1],
      ['lastName=tric', 1],
      ['companyName=filhos', 1],
      ['companyPosition=socia', 1],
      [`taxpayerNumber=${nifFrom('21234567')}`, 1],
      [`taxpayerNumber=${nifFrom('21234567').slice(0, 8)}`, 0],
      ['email=angela', 1],
      ['website=angela', 1],
      ['description=evora', 1],
      ['address=praca', 1],
      ['postalCode=7000', 1],
      ['city=EVORA', 1],
      ['phone=111', 1],
      ['fax=333', 1],
      ['mobile=777', 1],
      ['country=PT', 2],
      ['country=ES', 1],
      ['system=true', 1],
      ['system=false', 2],
      ['isArchived=false', 3],
      ['isArchived=true', 0],
      ['city=evora&country=ES', 0],
      ['search=%25', 0],
      ['search=_', 0],
    ] as const) {
      const answer = await B.get<CustomerJson[]>(`/customers?${query}`);
      expect([query, answer.status, answer.json.length]).toEqual([query, 200, found]);
      if (found === 1 && !query.includes('system') && !query.includes('ES')) expect(answer.json[0]?.id).toBe(one.id);
    }
    for (const country of ['pt', 'Portugal', '']) {
      const { status, json } = await B.get<Refused>(`/customers?country=${country}`);
      expect([country, status, json.errors]).toMatchObject([
        country,
        400,
        [{ pointer: '?country', code: 'INVALID_FORMAT' }],
      ]);
    }
  });
});

describe('items', () => {
  test('what is not given has its usual value', async () => {
    const made = await A.item({ name: 'Caneta', type: 'PRODUCT', unitPrice: 0.55 });
    expect(made).toEqual({
      id: expect.any(String),
      name: 'Caneta',
      type: 'PRODUCT',
      unitPrice: 0.55,
      unitType: 'UNIT',
      taxRate: 23,
      vatRate: 'NORMAL',
      vatTerritory: 'UNKNOWN',
      isAutoVATEnabled: true,
      withholdingTaxAvailable: false,
      isArchived: false,
      createdAt: expect.any(String),
      updatedAt: made.createdAt,
    });
  });

  test.each([
    ['CONTINENTAL', 23, 13, 6],
    ['MADEIRA', 22, 12, 4],
    ['AZORES', 16, 9, 4],
  ] as const)('the rates of %s', async (vatTerritory, normal, intermediate, reduced) => {
    for (const [vatRate, taxRate] of [
      ['NORMAL', normal],
      ['INTERMEDIATE', intermediate],
      ['REDUCED', reduced],
    ] as const)
      expect((await A.item({ vatRate, vatTerritory })).taxRate).toBe(taxRate);
    expect((await A.item({ vatRate: 'EXEMPT', vatExemptionReason: 'M07', vatTerritory })).taxRate).toBe(0);
  });

  test('an unknown territory is the company’s own', async () => {
    expect([(await A.item()).taxRate, (await Z.item()).taxRate]).toEqual([23, 16]);
  });

  test('leaving EXEMPT drops the code; automatic VAT drops the fixed rate', async () => {
    const exempt = await A.item({ vatRate: 'EXEMPT', vatExemptionReason: 'M07' });
    const normal = await A.patch<ItemJson>(`/items/${exempt.id}`, { vatRate: 'NORMAL' });
    expect([normal.json.vatRate, normal.json.vatExemptionReason, normal.json.taxRate]).toEqual([
      'NORMAL',
      undefined,
      23,
    ]);
    const fixed = await A.patch<ItemJson>(`/items/${exempt.id}`, { isAutoVATEnabled: false, taxRate: 23 });
    expect([fixed.json.isAutoVATEnabled, fixed.json.taxRate]).toEqual([false, 23]);
    const auto = await A.patch<ItemJson>(`/items/${exempt.id}`, { isAutoVATEnabled: true });
    expect(auto.json.isAutoVATEnabled).toBe(true);
  });

  test('prices keep six decimals', async () => {
    const { id } = await A.item({ unitPrice: 999999999.123456 });
    expect((await A.get<ItemJson>(`/items/${id}`)).json.unitPrice).toBe(999999999.123456);
  });

  test('the list filters by each field', async () => {
    const one = await B.item({
      name: 'Açúcar amarelo',
      description: 'Saco de um quilo',
      type: 'PRODUCT',
      unitPrice: 1.234567,
      unitType: 'KILOGRAM',
      vatRate: 'REDUCED',
      vatTerritory: 'MADEIRA',
      withholdingTaxAvailable: true,
      withholdingTaxType: 'IRS',
      withholdingTaxPercent: 11.5,
      withholdingTaxReason: 'Artigo 101.º do CIRS',
    });
    await B.item({ name: 'Serviço isento', vatRate: 'EXEMPT', vatExemptionReason: 'M07' });
    await B.item({ name: 'Serviço fixo', isAutoVATEnabled: false, taxRate: 23 });
    for (const [query, found] of [
      ['search=acucar', 1],
      ['search=QUILO', 1],
      ['name=AMARELO', 1],
      ['type=PRODUCT', 1],
      ['type=SERVICE', 2],
      ['unitPrice=1.234567', 1],
      ['unitPrice=1.23', 0],
      ['unitType=KILOGRAM', 1],
      ['taxRate=4', 1],
      ['taxRate=0', 1],
      ['taxRate=23', 1],
      ['taxRate=22', 0],
      ['vatRate=REDUCED', 1],
      ['vatExemptionReason=M07', 1],
      ['withholdingTaxPercent=11.5', 1],
      ['withholdingTaxType=IRS', 1],
      ['withholdingTaxAvailable=true', 1],
      ['withholdingTaxReason=101', 1],
      ['vatTerritory=MADEIRA', 1],
      ['isAutoVATEnabled=false', 1],
      ['isAutoVATEnabled=true', 2],
      ['isArchived=false', 3],
      ['isArchived=true', 0],
    ] as const) {
      const answer = await B.get<ItemJson[]>(`/items?${query}`);
      expect([query, answer.status, answer.json.length]).toEqual([query, 200, found]);
      if (query.includes('acucar') || query.includes('taxRate=4')) expect(answer.json[0]?.id).toBe(one.id);
    }
  });
});

/** A draft over new items, given as [item, entry]. */
async function draftOf(
  company: TestCompany,
  lines: readonly [Record<string, unknown>, Record<string, unknown>][],
  over: Record<string, unknown> = {},
): Promise<InvoiceJson> {
  const items = [];
  for (const [item, entry] of lines) items.push({ id: (await company.item(item)).id, quantity: 1, ...entry });
  return company.draft({ ...over, items });
}

describe('totals', () => {
  test('the tax authority’s own example: 166.22', async () => {
    const draft = await draftOf(
      A,
      [
        [{ unitPrice: 0.55 }, { quantity: 100, unitDiscountPercent: 8.8 }],
        [{ unitPrice: 100 }, { quantity: 1 }],
      ],
      { globalDiscountPercent: 10 },
    );
    expect(draft.summary).toEqual({
      amountWithoutTax: 135.14,
      amountWithTax: 166.22,
      amountWithoutTaxWithoutDiscount: 155,
      taxAmount: 31.08,
      globalDiscountType: 'PERCENT',
      globalDiscountPercent: 10,
      globalDiscountAmount: 15.02,
      total: 166.22,
      totalToPay: 166.22,
      withholdingTaxAmount: 0,
      creditNotesTotal: 0,
    });
    const [first, second] = draft.items;
    expect(first?.meta).toMatchObject({
      quantity: 100,
      amountWithoutTax: 45.14,
      discountAmount: 9.86,
      unitItemDiscountPercent: 8.8,
      unitItemDiscountAmount: 0.0484,
      unitDiscountPercent: 17.92,
      unitDiscountAmount: 0.09856,
      unitAmountWithoutTax: 0.4514,
      withholdingTaxEnabled: false,
    });
    expect(first?.data).toMatchObject({ unitPrice: 0.55, unitDiscountType: 'PERCENT', unitDiscountPercent: 8.8 });
    expect(second?.meta).toMatchObject({ amountWithoutTax: 90, discountAmount: 10, unitItemDiscountAmount: 0 });
    const taxes = Number(first?.meta['taxAmount']) + Number(second?.meta['taxAmount']);
    expect(taxes).toBeCloseTo(31.08, 10);
  });

  test('percentages of discounts are of amounts, not of unit amounts that were rounded before', async () => {
    const draft = await draftOf(A, [
      [{ unitPrice: 0.000001 }, { quantity: 100_000, unitDiscountPercent: 40 }],
      [{ unitPrice: 0.000123 }, { quantity: 100_000, unitDiscountPercent: 12.5 }],
      [{ unitPrice: 0.3 }, { quantity: 10, unitDiscountType: 'AMOUNT', unitDiscountAmount: 0.1 }],
      [{ unitPrice: 9.99 }, { quantity: 0.333333, unitDiscountPercent: 100 }],
    ]);
    expect(
      draft.items.map(({ meta }) => [
        meta['discountAmount'],
        meta['unitItemDiscountPercent'],
        meta['unitDiscountPercent'],
      ]),
    ).toEqual([
      [0.04, 40, 40],
      [1.54, 12.5, 12.5],
      [1, 33.333333, 33.333333],
      [3.33, 100, 100],
    ]);
  });

  test.each([
    ['its own percentage, of less than a cent', { unitPrice: 0.004 }, { unitDiscountPercent: 50 }, {}, [50, 0.002]],
    ['its own percentage of one unit', { unitPrice: 0.55 }, { unitDiscountPercent: 10 }, {}, [10, 0.055]],
    ['its own amount', { unitPrice: 3 }, { unitDiscountAmount: 1 }, {}, [33.333333, 1]],
    ['a global percentage', { unitPrice: 0.55 }, {}, { globalDiscountPercent: 10 }, [10, 0.055]],
    ['both', { unitPrice: 0.55 }, { unitDiscountPercent: 10 }, { globalDiscountPercent: 20 }, [28, 0.154]],
    [
      'an amount, and a percentage',
      { unitPrice: 4 },
      { unitDiscountAmount: 1 },
      { globalDiscountPercent: 10 },
      [32.5, 1.3],
    ],
    ['a global amount', { unitPrice: 4 }, { unitDiscountAmount: 1, quantity: 2 }, { globalDiscountAmount: 2 }, [50, 2]],
    [
      'a global amount of a line of nothing',
      { unitPrice: 0.004 },
      { unitDiscountPercent: 50 },
      { globalDiscountAmount: 0 },
      [50, 0.002],
    ],
  ])('what a unit is discounted: %s', async (_case, item, line, over, [percent, amount]) => {
    const draft = await draftOf(A, [[item, line]], over);
    const { unitDiscountPercent, unitDiscountAmount } = draft.items[0]!.meta;
    expect([unitDiscountPercent, unitDiscountAmount]).toEqual([percent, amount]);
  });

  test('of a global amount a line shows never less than its own discount', async () => {
    const draft = await draftOf(
      A,
      [
        [{ unitPrice: 0.004 }, { unitDiscountPercent: 50 }],
        [{ unitPrice: 10 }, {}],
      ],
      { globalDiscountAmount: 1 },
    );
    expect(draft.items.map(({ meta }) => [meta['unitDiscountPercent'], meta['unitDiscountAmount']])).toEqual([
      [50, 0.002],
      [10, 1],
    ]);
  });

  test('of a global amount a line shows never more than its price', async () => {
    // 0.007 × 0.90 is a cent, all of which the global discount takes: 1.428571 per unit.
    const draft = await draftOf(
      A,
      [
        [{ unitPrice: 0.9 }, { quantity: 0.007 }],
        [{ unitPrice: 5.326 }, { quantity: 1.87 }],
      ],
      { globalDiscountAmount: 9.97 },
    );
    expect(draft.items.map(({ meta }) => [meta['unitDiscountPercent'], meta['unitDiscountAmount']])).toEqual([
      [100, 0.9],
      [100, 5.326],
    ]);
  });

  test('a line discount in money is per unit; a global one in money is shared over the lines', async () => {
    const draft = await draftOf(
      A,
      [
        [{ unitPrice: 10 }, { quantity: 3, unitDiscountType: 'AMOUNT', unitDiscountAmount: 1 }],
        [{ unitPrice: 33.33 }, {}],
        [{ unitPrice: 33.33 }, {}],
      ],
      { globalDiscountType: 'AMOUNT', globalDiscountAmount: 10 },
    );
    // 27.00 + 33.33 + 33.33 = 93.66; 10.00 shared in whole cents.
    expect(draft.summary).toMatchObject({ amountWithoutTax: 83.66, globalDiscountAmount: 10, taxAmount: 19.24 });
    expect(draft.items.reduce((sum, { meta }) => sum + Math.round(Number(meta['amountWithoutTax']) * 100), 0)).toBe(
      8366,
    );
    expect(draft.items[0]?.data).toMatchObject({ unitDiscountType: 'AMOUNT', unitDiscountAmount: 1 });
  });

  test('discounts of 100 % leave nothing to pay', async () => {
    const draft = await draftOf(A, [[{}, { unitDiscountPercent: 100 }]]);
    expect(draft.summary).toMatchObject({ amountWithoutTax: 0, taxAmount: 0, total: 0 });
    expect((await draftOf(A, [[{}, {}]], { globalDiscountPercent: 100 })).summary.total).toBe(0);
    expect((await draftOf(A, [[{ unitPrice: 0 }, {}]])).summary.total).toBe(0);
  });

  test('withholding changes only what is to pay, and a line may leave it out', async () => {
    const withheld = {
      unitPrice: 1000,
      withholdingTaxAvailable: true,
      withholdingTaxType: 'IRS',
      withholdingTaxPercent: 23,
      withholdingTaxReason: 'Artigo 101.º do CIRS',
    };
    const draft = await draftOf(A, [
      [withheld, {}],
      [withheld, { withholdingTaxEnabled: false }],
      [
        { ...withheld, withholdingTaxAvailable: false },
        { withholdingTaxEnabled: true, quantity: 0.5 },
      ],
    ]);
    expect(draft.summary).toMatchObject({
      amountWithoutTax: 2500,
      total: 3075,
      withholdingTaxAmount: 345,
      totalToPay: 2730,
    });
    expect(draft.items.map(({ meta }) => [meta['withholdingTaxEnabled'], meta['withholdingTaxAmount']])).toEqual([
      [true, 230],
      [false, 0],
      [true, 115],
    ]);
    const customerId = (await A.customer()).id;
    // Of an item that says nothing of it, or 0 %, nothing can be withheld.
    for (const item of [await A.item(), await A.item({ ...withheld, withholdingTaxPercent: 0 })]) {
      const body = { type: 'INVOICE', cae: '62010', customerId };
      const items = [{ id: item.id, quantity: 1, withholdingTaxEnabled: true }];
      const refused = await A.post('/invoices', { ...body, items });
      expect(refused.json.errors?.[0]).toMatchObject({
        pointer: '/items/0/withholdingTaxEnabled',
        code: 'WITHHOLDING_NOT_AVAILABLE',
      });
      const plain = await A.draft({ customerId, items: [{ id: item.id, quantity: 1 }] });
      expect(plain.items[0]!.meta['withholdingTaxEnabled']).toBe(false);
    }
  });

  test('three territories in one document, taxed apart', async () => {
    const draft = await draftOf(A, [
      [{ unitPrice: 100, vatTerritory: 'CONTINENTAL' }, {}],
      [{ unitPrice: 100, vatTerritory: 'MADEIRA' }, {}],
      [{ unitPrice: 100, vatTerritory: 'AZORES' }, {}],
    ]);
    expect(draft.summary.taxAmount).toBe(61);
    expect(draft.items.map(({ data }) => data['taxRate'])).toEqual([23, 22, 16]);
  });

  test.each([
    ['AZORES', 'NORMAL', '2021-06-30', 18],
    ['AZORES', 'NORMAL', '2021-07-01', 16],
    ['MADEIRA', 'REDUCED', '2024-09-30', 5],
    ['MADEIRA', 'REDUCED', '2024-10-01', 4],
    ['CONTINENTAL', 'NORMAL', '2011-01-01', 23],
  ])('%s, %s, tax point %s: %d %%', async (vatTerritory, vatRate, taxPointDate, rate) => {
    const draft = await draftOf(A, [[{ unitPrice: 100, vatTerritory, vatRate }, {}]], { taxPointDate });
    expect([draft.summary.taxAmount, draft.items[0]?.data['taxRate']]).toEqual([rate, rate]);
    expect(draft.taxPointDate?.slice(0, 10)).toBe(taxPointDate);
  });

  test('without a tax point the date chooses, else today', async () => {
    const item = { unitPrice: 100, vatTerritory: 'AZORES' };
    expect((await draftOf(A, [[item, {}]], { date: '2021-06-30' })).summary.taxAmount).toBe(18);
    const today = await draftOf(A, [[item, {}]]);
    expect([today.summary.taxAmount, today.taxPointDate, today.date]).toEqual([16, null, undefined]);
  });

  test('exemption codes: of the item, of the line, in force on the tax point', async () => {
    const own = await draftOf(A, [[{ vatRate: 'EXEMPT', vatExemptionReason: 'M07' }, {}]]);
    expect(own.items[0]?.data).toMatchObject({ vatRate: 'EXEMPT', taxRate: 0, vatExemptionReason: 'M07' });
    const line = await draftOf(A, [[{}, { vatRate: 'EXEMPT', vatExemptionReason: 'M40' }]]);
    expect(line.items[0]?.data).toMatchObject({ vatRate: 'EXEMPT', vatExemptionReason: 'M40' });
    const back = await draftOf(A, [[{ vatRate: 'EXEMPT', vatExemptionReason: 'M07' }, { vatRate: 'NORMAL' }]]);
    expect(back.items[0]?.data).toMatchObject({ vatRate: 'NORMAL', taxRate: 23 });
    expect(back.items[0]?.data).not.toHaveProperty('vatExemptionReason');
    const old = await draftOf(A, [[{}, { vatRate: 'EXEMPT', vatExemptionReason: 'M26' }]], {
      taxPointDate: '2024-01-04',
    });
    expect(old.items[0]?.data['vatExemptionReason']).toBe('M26');
  });

  test('another currency has its rate, and goes back to EUR without it', async () => {
    const draft = await draftOf(A, [[{ unitPrice: 100 }, {}]], { currency: 'USD', exchangeRate: 0.912345 });
    expect([draft.currency, draft.exchangeRate, draft.summary.total]).toEqual(['USD', 0.912345, 123]);
    const same = await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { currency: 'USD', notes: 'x' });
    expect([same.json.currency, same.json.exchangeRate]).toEqual(['USD', 0.912345]);
    // The rate was of dollars.
    const pounds = await A.patch(`/invoices/${draft.id}`, { currency: 'GBP' });
    expect(pounds.json.errors?.[0]).toMatchObject({ pointer: '/exchangeRate', code: 'EXCHANGE_RATE_REQUIRED' });
    const euro = await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { currency: 'EUR' });
    expect([euro.json.currency, euro.json.exchangeRate]).toEqual(['EUR', undefined]);
    const missing = await A.patch(`/invoices/${draft.id}`, { currency: 'USD' });
    expect(missing.json.errors?.[0]).toMatchObject({ pointer: '/exchangeRate', code: 'EXCHANGE_RATE_REQUIRED' });
    const both = await A.patch(`/invoices/${draft.id}`, { exchangeRate: 1.1 });
    expect(both.json.errors?.[0]).toMatchObject({ pointer: '/exchangeRate', code: 'EXCHANGE_RATE_NOT_ALLOWED' });
  });

  test('a thousand lines', async () => {
    const item = await A.item({ unitPrice: 0.01 });
    const items = Array.from({ length: 1000 }, () => ({ id: item.id, quantity: 1 }));
    const draft = await A.draft({ items });
    expect([draft.items.length, draft.summary.amountWithoutTax, draft.summary.taxAmount]).toEqual([1000, 10, 2.3]);
  });
});

describe('drafts', () => {
  test('what is asked comes back; nothing is numbered; a read shows the same', async () => {
    const customer = await A.customer({ taxpayerNumber: nifFrom('50000001'), email: 'a@b.pt', city: 'Lisboa' });
    const item = await A.item({ description: 'do catálogo' });
    const draft = await A.draft({
      customerId: customer.id.toUpperCase(),
      items: [{ id: item.id, quantity: 2, name: 'Outro nome', description: 'Outra', unitPrice: 7.5 }],
      seriesId: A.series.INVOICE.id,
      date: '2026-03-01T23:30:00Z',
      taxPointDate: '2026-02-28',
      dueDate: '2026-04-01T00:00:00+01:00',
      description: 'Descrição',
      notes: 'Notas',
      cae: '47410',
    });
    expect(draft).toMatchObject({
      documentType: 'INVOICE',
      status: 'DRAFT',
      date: '2026-03-01T00:00:00.000+00:00',
      taxPointDate: '2026-02-28T00:00:00.000+00:00',
      // Half past midnight in Lisbon's summer is the day before in Madrid's; the day is Lisbon's.
      dueDate: '2026-04-01T00:00:00.000+01:00',
      currency: 'EUR',
      description: 'Descrição',
      notes: 'Notas',
      cae: '47410',
      parentInvoiceId: null,
      parentInvoiceNumber: null,
      parentInvoiceDate: null,
      parentInvoiceType: null,
      syncWithAt: { status: 'NOT_APPLICABLE' },
      series: { ref: A.series.INVOICE.id, name: 'A2026' },
      customer: { ref: customer.id, data: { name: 'Maria Silva', email: 'a@b.pt', city: 'Lisboa', country: 'PT' } },
      issuer: { ref: A.id, data: { name: A.name, taxPayerNumber: A.taxpayerNumber } },
    });
    for (const member of ['number', 'atcud', 'shortHash', 'issuedAt', 'qrCode', 'payment'])
      expect(draft).not.toHaveProperty(member);
    expect(draft.items[0]?.data).toMatchObject({ name: 'Outro nome', description: 'Outra', unitPrice: 7.5 });
    expect((await A.get(`/invoices/${draft.id}`)).json).toEqual(draft);
  });

  test('PATCH changes what is given, moves updatedAt, and items replaces all lines', async () => {
    const [one, two] = [await A.item({ name: 'Um' }), await A.item({ name: 'Dois' })];
    const draft = await A.draft({ items: [{ id: one.id, quantity: 1 }], notes: 'antes', globalDiscountPercent: 10 });
    const noted = (await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { notes: 'depois', dueDate: '2026-05-01' }))
      .json;
    expect(noted).toEqual({
      ...draft,
      notes: 'depois',
      dueDate: '2026-05-01T00:00:00.000+01:00',
      updatedAt: expect.any(String),
    });
    expect(Date.parse(noted.updatedAt)).toBeGreaterThan(Date.parse(draft.updatedAt));
    const items = [
      { id: two.id, quantity: 3 },
      { id: one.id, quantity: 1 },
    ];
    const lines = (await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { items, globalDiscountPercent: 0 })).json;
    expect(lines.items.map(({ data, meta }) => [data['name'], meta['quantity']])).toEqual([
      ['Dois', 3],
      ['Um', 1],
    ]);
    expect([lines.summary.globalDiscountType, lines.summary.total]).toEqual([undefined, 49.2]);
    expect((await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { notes: '' })).json.notes).toBeUndefined();
    const same = (await A.patch<InvoiceJson>(`/invoices/${draft.id}`, {})).json;
    expect((await A.get(`/invoices/${draft.id}`)).json).toEqual(same);
  });

  test('PATCH of the type takes what only the one before may say, and its series', async () => {
    const invoice = await A.issue(await A.draft());
    const { id, updatedAt, ...draft } = await A.draft({ seriesId: A.series.INVOICE.id, notes: 'fica' });
    const change = async (body: object) => (await A.patch<InvoiceJson>(`/invoices/${id}`, body)).json;
    // A whole body may be sent back: its own type changes nothing.
    expect(await change({ type: 'INVOICE' })).toEqual({ id, updatedAt: expect.any(String), ...draft });

    const paid = await change({ type: 'INVOICE_RECEIPT', payment: { method: 'CC', date: '2026-03-02' } });
    expect([paid.documentType, paid.notes, paid.series, paid.payment]).toEqual([
      'INVOICE_RECEIPT',
      'fica',
      undefined,
      expect.objectContaining({ method: 'CC' }),
    ]);
    expect((await change({ type: 'SIMPLIFIED_INVOICE' })).payment).toEqual(paid.payment);
    const note = await change({
      type: 'DEBIT_NOTE',
      parentInvoiceId: invoice.id,
      reason: 'Preço',
      customerId: invoice.customer.ref,
    });
    expect([note.documentType, note.parentInvoiceId, note.payment]).toEqual(['DEBIT_NOTE', invoice.id, undefined]);
    const again = await change({ type: 'INVOICE' });
    expect([again.documentType, again.parentInvoiceId]).toEqual(['INVOICE', null]);
    const wrong = await A.patch(`/invoices/${id}`, { type: 'INVOICE_RECEIPT', seriesId: A.series.INVOICE.id });
    expect([wrong.status, wrong.json]).toMatchObject([
      400,
      { errors: [{ pointer: '/seriesId', code: 'UNKNOWN_SERIES' }] },
    ]);
    const issued = await A.issue(await change({ type: 'INVOICE_RECEIPT', payment: { method: 'NU' } }));
    expect(issued.number).toMatch(/^FR /);
  });

  test('they follow their customer and items: new content, new revision', async () => {
    const customer = await A.customer({ name: 'Nome velho' });
    const item = await A.item({ name: 'Artigo velho', unitPrice: 10 });
    const draft = await A.draft({ customerId: customer.id, items: [{ id: item.id, quantity: 2 }] });
    const untouched = await A.draft();
    const read = async () => (await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json;

    await A.patch(`/customers/${customer.id}`, { name: 'Nome novo', city: 'Faro' });
    const renamed = await read();
    expect(renamed.customer.data).toMatchObject({ name: 'Nome novo', city: 'Faro' });
    await A.patch(`/items/${item.id}`, { name: 'Artigo novo', unitPrice: 20 });
    const repriced = await read();
    expect(repriced.items[0]?.data['name']).toBe('Artigo novo');
    expect(repriced.summary.total).toBe(49.2);
    const moments = [draft, renamed, repriced].map(({ updatedAt }) => Date.parse(updatedAt));
    expect(moments[1]).toBeGreaterThan(moments[0]!);
    expect(moments[2]).toBeGreaterThan(moments[1]!);
    expect((await A.get<InvoiceJson>(`/invoices/${untouched.id}`)).json).toEqual(untouched);
    const listed = (await A.get<InvoiceEntryJson[]>('/invoices?search=Nome%20novo')).json;
    expect(listed.map(({ id, summary }) => [id, summary.total])).toEqual([[draft.id, 49.2]]);

    const stale = await A.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: renamed.updatedAt });
    expect([stale.status, stale.json.code, stale.json.currentUpdatedAt]).toEqual([
      400,
      'DRAFT_CHANGED',
      repriced.updatedAt,
    ]);
  });

  test('an item that cannot be priced in a draft any more leaves it as it is, with a new revision', async () => {
    const item = await A.item({ unitPrice: 10 });
    const draft = await A.draft({ items: [{ id: item.id, quantity: 1, unitDiscountAmount: 8 }] });
    expect((await A.patch(`/items/${item.id}`, { unitPrice: 5 })).status).toBe(200);
    const now = (await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json;
    expect(now).toEqual({ ...draft, updatedAt: expect.any(String) });
    expect(now.updatedAt).not.toBe(draft.updatedAt);
  });

  test('what is archived, by either way, moves the open drafts that use it', async () => {
    for (const kind of ['customers', 'items'] as const) {
      const [customer, item] = [await A.customer(), await A.item()];
      const draft = await A.draft({ customerId: customer.id, items: [{ id: item.id, quantity: 1 }] });
      const path = `/${kind}/${kind === 'items' ? item.id : customer.id}`;
      let last = draft.updatedAt;
      for (const act of [() => A.delete(path), () => A.patch(path, { isArchived: false })]) {
        expect((await act()).status).toBe(200);
        const { updatedAt, summary } = (await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json;
        expect([updatedAt > last, summary]).toEqual([true, draft.summary]);
        last = updatedAt;
      }
    }
  });

  test('a draft with an archived customer can still be changed', async () => {
    const draft = await A.draft();
    await A.delete(`/customers/${draft.customer.ref}`);
    expect((await A.patch(`/invoices/${draft.id}`, { notes: 'x' })).status).toBe(200);
  });

  test('DELETE removes it', async () => {
    const draft = await A.draft();
    const gone = await A.delete<{ id: string; deleted: boolean }>(`/invoices/${draft.id}`);
    expect([gone.status, gone.json]).toEqual([200, { id: draft.id, deleted: true }]);
    for (const answer of [await A.get(`/invoices/${draft.id}`), await A.delete(`/invoices/${draft.id}`)])
      expect([answer.status, answer.json.code]).toEqual([404, 'INVOICE_NOT_FOUND']);
  });

  test('days are the company’s: on the Azores a Lisbon midnight is the day before', async () => {
    const date = '2026-03-02T00:30:00Z';
    expect((await A.draft({ date })).date).toBe('2026-03-02T00:00:00.000+00:00');
    expect((await Z.draft({ date })).date).toBe('2026-03-01T00:00:00.000-01:00');
  });

  test('payment belongs to what is paid at once; its method is a code or a name', async () => {
    for (const [method, code] of [
      ['MB', 'MB'],
      ['Transferência bancária ou débito direto autorizado', 'TB'],
      ['cash', 'NU'],
    ]) {
      const draft = await A.draft({ type: 'INVOICE_RECEIPT', payment: { method, date: '2026-03-02' } });
      expect(draft.payment).toEqual({ method: code, date: '2026-03-02T00:00:00.000+00:00' });
    }
  });

  test('a change of how it was paid keeps when, and a change of when keeps how; an empty method removes it', async () => {
    const draft = await A.draft({ type: 'INVOICE_RECEIPT', payment: { method: 'TB', date: '2026-03-01' } });
    const [first, second] = ['2026-03-01T00:00:00.000+00:00', '2026-03-02T00:00:00.000+00:00'];
    for (const [change, payment] of [
      [{ method: 'MB' }, { method: 'MB', date: first }],
      [{ date: '2026-03-02' }, { method: 'MB', date: second }],
      [{}, { method: 'MB', date: second }],
      [{ method: '' }, { date: second }],
      [{ method: 'MB' }, { method: 'MB', date: second }],
      [{ method: '  ' }, { date: second }],
    ]) {
      const { status, json } = await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { payment: change });
      expect([status, json.payment]).toEqual([200, payment]);
    }
  });
});

test('the series of the company, with what they have numbered', async () => {
  const { json } = await Z.get<SeriesJson[]>('/series');
  expect(
    json.map(({ documentType, name, isDefault, lastNumber }) => [documentType, name, isDefault, lastNumber]),
  ).toEqual([
    ['CREDIT_NOTE', 'Z2026', true, 0],
    ['DEBIT_NOTE', 'Z2026', true, 0],
    ['GUIA_DE_ATIVOS_PROPRIOS', 'Z2026', true, 0],
    ['GUIA_DE_CONSIGNACAO', 'Z2026', true, 0],
    ['GUIA_DE_DEVOLUCAO', 'Z2026', true, 0],
    ['GUIA_DE_REMESSA', 'Z2026', true, 0],
    ['GUIA_DE_TRANSPORTE', 'Z2026', true, 0],
    ['INVOICE', 'Z2026', true, 0],
    ['INVOICE_RECEIPT', 'Z2026', true, 0],
    ['PROFORMA', 'Z2026', true, 0],
    ['RECEIPT', 'Z2026', true, 0],
    ['SIMPLIFIED_INVOICE', 'Z2026', true, 0],
  ]);
  const numbered = await Z.issue(await Z.draft());
  const after = (await Z.get<SeriesJson[]>('/series')).json.find(({ documentType }) => documentType === 'INVOICE');
  expect(after).toMatchObject({ id: numbered.series?.ref, lastNumber: 1, lastDate: '2026-03-02T00:00:00.000-01:00' });
  expect(numbered.atcud).toBe(`${after?.validationCode}-1`);
});
