/**
 * The default of a type: the series of documents that name none, one in the cash VAT scheme and one outside it. Training and
 * recovery series are none. Where there is an active series of the normal kind, one is the default: when the default stops
 * numbering, the newest of the others takes its place. Whoever changes which series are active, or which is the default,
 * holds all series of the type first, so that this is done by one after the other.
 */
import { type Call, type Db, type Row, statement, type Tx, untangled } from '../../db/transact.ts';
import type { DocumentType } from '../../fiscal/document.ts';
import type { SeriesKind } from '../../fiscal/regime.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import { actCall } from '../operator.ts';

/** Of `certo.series s`: of the type of the series $1, and in the scheme or outside it as that one is. */
const alike = `s.company_id = certo.current_company() and (s.document_type, s.cash_vat) = (
     select k.document_type, k.cash_vat from certo.series k where k.company_id = certo.current_company() and k.id = $1)`;
// In order of id, as everyone who locks several of them.
const lockAlike = statement(
  'default_lock',
  `select s.id from certo.series s where ${alike} order by s.id for no key update`,
);
const fill = statement(
  'default_fill',
  `update certo.series t set is_default = true, updated_at = certo.now()
   where t.company_id = certo.current_company() and t.id = (
     select s.id from certo.series s where ${alike} and s.status = 'ACTIVE' and s.kind = 'N'
       and not exists (select from certo.series s where ${alike} and s.is_default)
     order by s.created_at desc, s.id desc limit 1)
   returning t.id`,
);
// Not `updated_at`: it tells whether a series was ENDING before a backup (end-series.ts).
const takeFromOthers = statement(
  'default_take',
  `update certo.series s set is_default = false, was_default = false
   where ${alike} and s.id <> $1 and (s.is_default or s.was_default)`,
);
const give = statement(
  'default_give',
  `update certo.series set is_default = true, updated_at = certo.now()
   where company_id = certo.current_company() and id = $1 and status = 'ACTIVE' and kind = 'N' and not is_default`,
);
const readDefault = statement('default_read', `select s.code from certo.series s where ${alike} and s.is_default`);
const readSeries = statement(
  'default_series',
  `select code, document_type, cash_vat, kind, status from certo.series where company_id = certo.current_company() and id = $1`,
);

/** All series of this one's type, until the commit: the first statement of whoever changes which are active. */
export const holdAlike = (seriesId: string): Call => [lockAlike, [seriesId]];

/** The newest active series of this one's type becomes the default if none is. Gives its id. */
export const fillDefault = (seriesId: string): Call => [fill, [seriesId]];

/** It has the default, and no series that is ENDING gets it back when it goes on. */
export const takeDefault = (seriesId: string): readonly Call[] => [
  [takeFromOthers, [seriesId]],
  [give, [seriesId]],
];

/** The code of the default of this one's type, if there is one. */
export async function defaultOf(tx: Tx, seriesId: string): Promise<string | undefined> {
  const [row] = await tx.query(readDefault, [seriesId]);
  return row === undefined ? undefined : String(row['code']);
}

/** What became of it: only `done` has changed anything. */
export type DefaultOutcome =
  | { readonly kind: 'no-series' }
  | { readonly kind: 'not-active'; readonly code: string; readonly status: string }
  /** Documents go into it only where they name it. */
  | { readonly kind: 'other-kind'; readonly code: string; readonly seriesKind: Exclude<SeriesKind, 'N'> }
  | {
      readonly kind: 'done';
      readonly code: string;
      readonly documentType: DocumentType;
      readonly cashVat: boolean;
    };

/**
 * Makes a series the default of its type, in place of the one that is. When it returns, nothing that names no series is
 * numbered in that one any more, by whatever process.
 */
export async function makeDefault(db: Db, companyId: string, seriesId: string): Promise<DefaultOutcome> {
  return untangled(() =>
    db.transact(entryOfCompany(companyId, 'operator'), async (tx) => {
      const [, [row] = []] = await tx.batch([holdAlike(seriesId), [readSeries, [seriesId]]]);
      const outcome = judged(row);
      if (outcome.kind === 'done') await tx.batch([...takeDefault(seriesId), actCall('setDefaultSeries', seriesId)]);
      return outcome;
    }),
  );
}

function judged(row: Row | undefined): DefaultOutcome {
  if (row === undefined) return { kind: 'no-series' };
  const code = String(row['code']);
  const seriesKind = row['kind'] as SeriesKind;
  if (seriesKind !== 'N') return { kind: 'other-kind', code, seriesKind };
  if (row['status'] !== 'ACTIVE') return { kind: 'not-active', code, status: String(row['status']) };
  return { kind: 'done', code, documentType: row['document_type'] as DocumentType, cashVat: row['cash_vat'] === true };
}
