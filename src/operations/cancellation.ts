/** What cancelling changes of a numbered document, whatever its family. */
import { Type } from 'typebox';
import type { Call, Row } from '../db/transact.ts';
import { atStatusOf } from '../fiscal/communicated.ts';
import { type Mac, type State, sealable } from '../fiscal/seal.ts';
import { changeCall, nextUpdate } from './books.ts';
import { closed, line, offering } from './fields.ts';

/** What cancels, whatever is cancelled, may say why. */
export const CancelBody = offering(
  closed({ reason: Type.Optional(line(50, 'Kept in the books and SAF-T; "Erro de emissão" when absent.', 1)) }),
  { reason: 'Engano no cliente' },
);

/** What says whether the AT hears of it. */
type Told = Parameters<typeof atStatusOf>[0];

interface Cancellation {
  readonly actor: string;
  readonly reason: string | undefined;
  readonly at: Date;
}

/** The columns that cancelling changes, `row` being the document's `standingColumns`. The AT hears of it after the issue. */
export function canceled(row: Row, content: Told, by: Cancellation): State {
  return {
    status: 'CANCELED',
    outstanding: '0.00',
    canceled_at: sealable(by.at),
    canceled_by: by.actor,
    cancel_reason: by.reason ?? 'Erro de emissão',
    at_status: atStatusOf(content),
    updated_at: nextUpdate(row, by.at),
  };
}

/** The statement that cancels. */
export function cancelCall(row: Row, content: Told, by: Cancellation, mac: Mac): Call {
  return changeCall(row, { kind: 'CANCELED', at: by.at, changes: canceled(row, content, by), tell: true }, mac);
}
