import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampleContent, sampleLine } from '../../test/fiscal-samples.ts';
import { type Service, startService } from '../../test/service.ts';
import { StatementError } from '../db/errors.ts';
import { type Call, Line, type Row } from '../db/transact.ts';
import { entryOfCompany } from '../identity/principal.ts';
import { generateSigningKey, localSigner } from '../keys/signer.ts';
import { numberDocument } from './numbering.ts';
import { runningFrom } from './running-head.ts';
import { begunOf } from './stamp.ts';
import { stampCalls } from './stamping.ts';
import type { World } from './world.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ companies: ['A'] });
});
afterAll(() => service.stop('tampered'));

const signer = localSigner(generateSigningKey().privatePem, 1);
const world = { signer: () => signer, baseUrl: 'http://certo.test', certificateNumber: 9999 } as unknown as World;

/** What is written over a draft, without the move of a head before it. */
async function overDraft(draft: Row, series: Row, asDrafted: boolean): Promise<Call> {
  const now = new Date();
  const moment = { id: draft['company_id'], now, last_signed: null, cash_vat_from: null, key_version: 1 };
  const ready = { at_state: 'OK', at_synced_at: now, at_series_differ: false, has_invoice_series: true };
  const [itemId] = draft['item_ids'] as string[];
  const customer = { id: String(draft['customer_id']), name: 'Cliente', taxpayerNumber: '501442600', country: 'PT' };
  const content = sampleContent('INVOICE', [sampleLine({ id: randomUUID(), itemId: itemId! })], { customer });
  const numbered = await numberDocument(
    { id: String(draft['id']), content, region: 'PT' },
    { series, isNamed: false, moment: { ...moment, ...ready }, running: runningFrom(series), byScheme: false },
    world,
  );
  const stamp = { status: 'ISSUED', outstanding: '1', actor: 'test', begun: begunOf(draft) } as const;
  const [, call] = stampCalls(numbered, stamp, () => Buffer.alloc(32, 1), { marked: true, asDrafted });
  return call!;
}

// No foreign key looks for the series (docs/decisions/0089-less-for-each-group.md).
test.each([true, false])('a number is written only in a series that is there (as drafted: %s)', async (asDrafted) => {
  const { A } = service.companies;
  const { id } = await A.draft();
  const [draft] = (await service.owner.query<Row>('select * from certo.documents where id = $1', [id])).rows;
  const [series] = (
    await service.owner.query<Row>(
      `select * from certo.series where company_id = $1 and document_type = 'INVOICE' and is_default`,
      [A.id],
    )
  ).rows;
  const written = async (seriesId: unknown) =>
    service.db
      .write(
        entryOfCompany(A.id, 'test'),
        [await overDraft(draft!, { ...series, id: seriesId }, asDrafted)],
        new Line(),
      )
      .then(
        () => 'written',
        (error: unknown) => (error instanceof StatementError ? error.code : error),
      );
  const sequence = Number(series!['last_number']) + (asDrafted ? 1 : 2);
  series!['last_number'] = sequence - 1;
  expect([await written(randomUUID()), await written(series!['id'])]).toEqual(['CE003', 'written']);
  const { rows } = await service.owner.query('select sequence::int, series_id from certo.documents where id = $1', [
    id,
  ]);
  expect(rows).toEqual([{ sequence, series_id: series!['id'] }]);
});
