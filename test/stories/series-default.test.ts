/** Which series documents go into that name none: passed on when the default ends, given back when it did not, or chosen. */

import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Db } from '../../src/db/transact.ts';
import type { DocumentType } from '../../src/fiscal/document.ts';
import { makeDefault } from '../../src/operations/series/default-series.ts';
import { endSeries, type SeriesEnd } from '../../src/operations/series/end-series.ts';
import { registerSeries, syncSeries, type WantedSeries } from '../../src/operations/series/registration.ts';
import { eventually } from '../eventually.ts';
import { quickWrites } from '../quick-writes.ts';
import type { CompanyJson, InvoiceJson, ProposalJson } from '../replies.ts';
import { nifFrom, type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-12-30T10:00:00Z') });
  ({ A } = service.companies);
  service.startReports();
});
afterAll(() => service.stop());
beforeEach(() => service.control('DELETE', '/__fault'));

const fault = (kind: string) => service.control('PUT', '/__fault', { kind, count: 1, operation: 'finalizeSeries' });

/** A company of its own, with series of INVOICE in the order in which they are registered. */
async function companyWith(digits: string, ...codes: string[]) {
  const company = await service.newCompany({ name: `Casa ${digits}, Lda`, taxpayerNumber: nifFrom(digits) });
  await service.setCredentials(company);
  const ids: Record<string, string> = {};
  const register = async (code: string, over: Partial<WantedSeries> = {}) => {
    const { id } = await registerSeries(service.world, company.id, { documentType: 'INVOICE', code, ...over });
    ids[code] = id;
    return id;
  };
  for (const code of codes) await register(code);
  expect(await syncSeries(service.world, company.id)).toBe('ok');
  const defaults = async (documentType: DocumentType = 'INVOICE', cashVat = false) => {
    const { rows } = await service.owner.query(
      'select code from certo.series where company_id = $1 and is_default and document_type = $2 and cash_vat = $3',
      [company.id, documentType, cashVat],
    );
    return rows.map(({ code }) => code as string);
  };
  /** The number of a document that names no series, or the code of its refusal. */
  const issued = async (draft?: InvoiceJson) => {
    const { id, updatedAt } = draft ?? (await company.draft());
    const { json } = await company.post<InvoiceJson & { code?: string }>(`/invoices/${id}/issue`, {
      expectedUpdatedAt: updatedAt,
    });
    return json.number ?? json.code;
  };
  const there = () =>
    eventually(async () => {
      const pending = `select from certo.documents where company_id = $1 and at_status = 'PENDING'`;
      expect((await service.owner.query(pending, [company.id])).rowCount).toBe(0);
    });
  const end = async (code: string, how: SeriesEnd = 'FINALIZED') => {
    await there();
    return endSeries(service.world, company.id, { seriesId: ids[code]!, end: how, wait: async () => false });
  };
  const choose = (code: string) => makeDefault(service.db, company.id, ids[code]!);
  const ready = async () => (await company.get<CompanyJson>('/company')).json.readiness.ready;
  return { company, ids, register, defaults, issued, end, choose, ready };
}

/** A database in which so many take their keys at the same moment, so that they share a group from there on. */
function claimedTogether(db: Db, members: number): Db {
  const claimed: (() => void)[] = [];
  return {
    ...db,
    read(entry, how) {
      const tx = db.read(entry, how);
      return {
        ...tx,
        async batch(calls) {
          const rows = await tx.batch(calls);
          if (calls[0]?.[0].name !== 'claim_insert') return rows;
          return new Promise((resolve) => {
            claimed.push(() => resolve(rows));
            if (claimed.length === members) for (const go of claimed.splice(0)) go();
          });
        },
      };
    },
  };
}

describe('when the default ends', () => {
  test("next year's series, registered before, is the default at once; ready says what issuing does", async () => {
    const { issued, end, defaults, ready, company } = await companyWith('51111113', 'A2026', 'A2027');
    const early = await company.draft();
    expect([await issued(), await defaults()]).toEqual(['FT A2026/1', ['A2026']]);
    expect(await end('A2026')).toEqual({ kind: 'ended', code: 'A2026', lastNumber: 1, heir: 'A2027' });
    expect([await ready(), await issued(early), await issued()]).toEqual([true, 'FT A2027/1', 'FT A2027/2']);
    const { json } = await company.get<{ name: string; isDefault: boolean }[]>('/series');
    expect(json.map(({ name, isDefault }) => [name, isDefault])).toEqual([['A2027', true]]);
    expect(await end('A2027')).toEqual({ kind: 'ended', code: 'A2027', lastNumber: 2, heir: undefined });
    expect([await defaults(), await ready(), await issued()]).toEqual([[], false, 'NOT_READY']);
  });

  test('the newest of its type takes its place: none for training, for recovery, of the scheme, or of another type', async () => {
    const { register, end, defaults } = await companyWith('51111114', 'N1', 'N2', 'N3');
    await register('F1', { kind: 'F' });
    await register('R1', { kind: 'R' });
    await register('C1', { cashVat: true });
    await register('C2', { cashVat: true });
    await register('S1', { documentType: 'SIMPLIFIED_INVOICE' });
    expect(await end('N1', 'ANNULLED')).toMatchObject({ kind: 'ended', heir: 'N3' });
    expect([await defaults(), await defaults('INVOICE', true)]).toEqual([['N3'], ['C1']]);
    // Not the default: nothing is passed on.
    expect(await end('N2', 'ANNULLED')).toMatchObject({ kind: 'ended', heir: undefined });
    expect(await end('N3', 'ANNULLED')).toMatchObject({ kind: 'ended', heir: undefined });
    expect([await defaults(), await defaults('INVOICE', true)]).toEqual([[], ['C1']]);
    expect(await end('C1', 'ANNULLED')).toMatchObject({ kind: 'ended', heir: 'C2' });
    expect([await defaults('INVOICE', true), await defaults('SIMPLIFIED_INVOICE')]).toEqual([['C2'], ['S1']]);
  });

  test('while the answer of the AT is not known another one stands in; refused, it is the default again', async () => {
    const { issued, end, defaults } = await companyWith('51111115', 'A1', 'A2', 'A3');
    expect(await issued()).toBe('FT A1/1');
    await fault('document-refused');
    expect(await end('A1')).toMatchObject({ kind: 'active-again' });
    expect([await defaults(), await issued()]).toEqual([['A1'], 'FT A1/2']);
    await fault('reset-before');
    expect(await end('A1')).toMatchObject({ kind: 'stopped' });
    expect([await defaults(), await issued()]).toEqual([['A3'], 'FT A3/1']);
    await service.setClock(new Date(service.now().getTime() + 6 * 60_000));
    await fault('document-refused');
    expect(await end('A1')).toMatchObject({ kind: 'active-again' });
    expect([await defaults(), await issued()]).toEqual([['A1'], 'FT A1/3']);
  });

  test('refused, it is not the default again where the operator has chosen one meanwhile', async () => {
    const { issued, end, choose, defaults } = await companyWith('51111116', 'A1', 'A2', 'A3');
    await issued();
    await fault('reset-before');
    await end('A1');
    expect(await choose('A2')).toMatchObject({ kind: 'done' });
    await service.setClock(new Date(service.now().getTime() + 6 * 60_000));
    await fault('document-refused');
    expect(await end('A1')).toMatchObject({ kind: 'active-again' });
    expect(await defaults()).toEqual(['A2']);
    // The stand-in is chosen too, by its name.
    await fault('reset-before');
    await issued();
    await end('A2');
    expect([await defaults(), await choose('A3')]).toEqual([['A3'], expect.objectContaining({ kind: 'done' })]);
    expect(await end('A2')).toMatchObject({ kind: 'ended', heir: undefined });
    expect(await defaults()).toEqual(['A3']);
  });

  test('one that goes on where there is no default any more is the default, whatever it was', async () => {
    const { company, ids, end, issued, defaults } = await companyWith('51111117', 'A1', 'A2');
    await company.issue(await company.draft({ seriesId: ids['A2'] }));
    await fault('reset-before');
    expect(await end('A2')).toMatchObject({ kind: 'stopped' });
    await issued();
    expect(await end('A1')).toMatchObject({ kind: 'ended', heir: undefined });
    expect(await defaults()).toEqual([]);
    await service.setClock(new Date(service.now().getTime() + 6 * 60_000));
    await fault('document-refused');
    expect(await end('A2')).toMatchObject({ kind: 'active-again' });
    expect([await defaults(), await issued()]).toEqual([['A2'], 'FT A2/2']);
  });

  test('two at once, of which one was to stand in for the other, leave none behind; two at once are registered', async () => {
    const { register, end, defaults } = await companyWith('51111118', 'A1', 'A2', 'A3');
    await Promise.all([end('A1', 'ANNULLED'), end('A3', 'ANNULLED')]);
    expect(await defaults()).toEqual(['A2']);
    await Promise.all(['B1', 'B2', 'B3'].map((code) => register(code, { documentType: 'RECEIPT' })));
    expect(await defaults('RECEIPT')).toHaveLength(1);
  });
});

describe('a series is made the default', () => {
  test('takes it from the other one, which stays active; in the scheme and outside it', async () => {
    const { register, choose, issued, defaults, ids, company } = await companyWith('51111119', 'A1', 'A2');
    await register('C1', { cashVat: true });
    await register('C2', { cashVat: true });
    expect(await issued()).toBe('FT A1/1');
    const done = { kind: 'done', code: 'A2', documentType: 'INVOICE', cashVat: false };
    for (let turn = 0; turn < 2; turn += 1) expect(await choose('A2')).toEqual(done);
    expect([await defaults(), await defaults('INVOICE', true)]).toEqual([['A2'], ['C1']]);
    expect([await issued(), (await company.issue(await company.draft({ seriesId: ids['A1'] }))).number]).toEqual([
      'FT A2/1',
      'FT A1/2',
    ]);
    expect(await choose('C2')).toEqual({ kind: 'done', code: 'C2', documentType: 'INVOICE', cashVat: true });
    expect([await defaults(), await defaults('INVOICE', true)]).toEqual([['A2'], ['C2']]);
  });

  test('only if it is active and of the normal kind, and of the company', async () => {
    const { register, choose, end, defaults, company } = await companyWith('51111120', 'A1', 'A2');
    await register('F1', { kind: 'F' });
    await register('R1', { kind: 'R' });
    await end('A2', 'ANNULLED');
    expect(await choose('F1')).toEqual({ kind: 'other-kind', code: 'F1', seriesKind: 'F' });
    expect(await choose('R1')).toEqual({ kind: 'other-kind', code: 'R1', seriesKind: 'R' });
    expect(await choose('A2')).toEqual({ kind: 'not-active', code: 'A2', status: 'ANNULLED' });
    for (const id of [uuidv7(), A.series.INVOICE.id])
      expect(await makeDefault(service.db, company.id, id)).toEqual({ kind: 'no-series' });
    expect(await defaults()).toEqual(['A1']);
  });
});

describe('another process numbers in the former default no more', () => {
  /** A process of a company with A1, the default, and A2; it has issued three in A1 and remembers all that that takes. */
  async function process(digits: string) {
    const { company, choose } = await companyWith(digits, 'A1', 'A2');
    const between = {
      /** Before what it has decided is written. */
      write: async (): Promise<unknown> => undefined,
      /** Between the draft that it reads, with its series, and the moment that it is compared with later. */
      moment: async (): Promise<unknown> => undefined,
    };
    const once = async (what: keyof typeof between) => {
      const act = between[what];
      between[what] = async () => undefined;
      await act();
    };
    const door = await service.another((db) => ({
      ...db,
      ...quickWrites(db, async (write) => {
        await once('write');
        await write();
      }),
      read(entry, how) {
        const tx = db.read(entry, how);
        return {
          ...tx,
          async batch(calls) {
            const names = calls.map(([{ name }]) => name);
            if (!names.includes('invoice_draft') || names.at(-1) !== 'number_moment') return tx.batch(calls);
            const rows = await tx.batch(calls.slice(0, -1));
            await once('moment');
            return [...rows, ...(await tx.batch(calls.slice(-1)))];
          },
        };
      },
    }));
    const [{ id: customerId }, { id }] = await Promise.all([company.customer(), company.item()]);
    const body = { type: 'INVOICE', cae: '62010', customerId, items: [{ id, quantity: 1 }] };
    const post = (path: string, body: unknown) =>
      door.call<InvoiceJson>('POST', path, { key: company.key, body, headers: { 'idempotency-key': uuidv7() } });
    const draft = async () => (await post('/invoices', body)).json;
    const issue = async ({ id, updatedAt }: InvoiceJson) =>
      (await post(`/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt })).json.number;
    for (let n = 1; n <= 3; n += 1) expect(await issue(await draft())).toBe(`FT A1/${n}`);
    const kept = await draft();
    return {
      between,
      issue,
      kept,
      /** Made by another process, so that it has to be read. */
      unknown: () => company.draft(body),
      choose: () => choose('A2'),
      async end() {
        expect([await issue(await draft()), await issue(await draft())]).toEqual(['FT A2/2', 'FT A2/3']);
        await door.stop();
      },
    };
  }

  test('with what it remembers', async () => {
    const { issue, kept, choose, end } = await process('51111121');
    await choose();
    expect(await issue(kept)).toBe('FT A2/1');
    await end();
  });

  test('with what it has decided and signed already', async () => {
    const { between, issue, kept, choose, end } = await process('51111122');
    between.write = choose;
    expect(await issue(kept)).toBe('FT A2/1');
    await end();
  });

  test('with what it read while that was changed', async () => {
    const { between, issue, unknown, choose, end } = await process('51111123');
    const draft = await unknown();
    let changed: unknown;
    between.moment = async () => {
      changed = await choose();
    };
    expect([await issue(draft), changed]).toEqual(['FT A2/1', expect.objectContaining({ kind: 'done' })]);
    await end();
  });

  // Alone it is tried again as such, of a group each member is: the two ways are held one by one.
  test.each([
    ['alone', '51111124', 1],
    ['in a group', '51111126', 3],
  ])(
    'who waits for its lock %s while it is passed on is numbered in the new one, and not refused',
    async (_, digits, members) => {
      const { company, register, choose } = await companyWith(digits, 'A1');
      const ids = [
        await register('P1', { documentType: 'PROFORMA' }),
        await register('P2', { documentType: 'PROFORMA' }),
      ];
      const [{ id: customerId }, { id }] = await Promise.all([company.customer(), company.item()]);
      expect((await company.proposal({ customerId, items: [{ id, quantity: 1 }] })).number).toBe('PF P1/1');
      const door = await service.another((db) => claimedTogether(db, members));
      const propose = () =>
        door.call<ProposalJson>('POST', '/proposals', {
          key: company.key,
          body: { cae: '62010', customerId, items: [{ id, quantity: 1 }] },
          headers: { 'idempotency-key': uuidv7() },
        });
      const passing = await service.owner.connect();
      await passing.query('begin');
      await passing.query('update certo.series set is_default = false where id = $1', [ids[0]]);
      await passing.query('update certo.series set is_default = true where id = $1', [ids[1]]);
      const waiting = Array.from({ length: members }, propose);
      await eventually(async () => {
        // Who waits for a row is the next one to have it. By the mode, which the search's own look at the series has another of;
        // by the database, since tables of other tests have the same number in theirs.
        const locks = await service.owner.query(
          `select from pg_locks where locktype = 'tuple' and relation = 'certo.series'::regclass and mode = 'ExclusiveLock'
             and database = (select oid from pg_database where datname = current_database())`,
        );
        expect(locks.rowCount).toBeGreaterThan(0);
      });
      await passing.query('commit');
      passing.release();
      expect((await Promise.all(waiting)).map(({ json }) => json.number).sort()).toEqual(
        Array.from({ length: members }, (_, n) => `PF P2/${n + 1}`),
      );
      expect(await choose('P1')).toMatchObject({ kind: 'done' });
      expect((await company.proposal()).number).toBe('PF P1/2');
      await door.stop();
    },
  );
});

test('that another one is chosen does not make a series known again whose last number a restore has lost', async () => {
  const { issued, end, choose, defaults } = await companyWith('51111125', 'A1', 'A2', 'A3');
  await issued();
  await fault('reset-before');
  expect(await end('A1')).toMatchObject({ kind: 'stopped' });
  await service.owner.query(
    `insert into certo.restores (number, taken_at, written_by, digest, nothing_lost) values (1, certo.now(), '1', sha256('x'), false)`,
  );
  expect(await choose('A2')).toMatchObject({ kind: 'done' });
  expect(await end('A1')).toEqual({ kind: 'not-active', code: 'A1', status: 'CLOSED' });
  expect(await defaults()).toEqual(['A2']);
});
