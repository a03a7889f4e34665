/** Commands as HTTP requests. */
import { type Command, nobody } from './judge.ts';
import type { Line, Off, Wanted } from './money.ts';
import type { Asked, AskedNote } from './world.ts';

/** Ids as the program gave them. */
export interface Names {
  readonly customers: readonly string[];
  readonly items: readonly string[];
  idOf(doc: number): string;
  lineIdsOf(doc: number, revision: number): readonly string[];
  updatedAtOf(doc: number, revision: number): string;
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Nobody's, and another one. */
const unknownId = '0190b5c4-0000-7000-8000-000000000000';
const otherUnknownId = '0190b5c4-0000-7000-8000-000000000001';

export function requestOf(command: Command, names: Names): Request {
  const id = 'doc' in command ? spelled(command.doc, names) : '';
  switch (command.kind) {
    case 'create': {
      const { type, asked, parent, reason } = command;
      const parentInvoiceId = parent === undefined ? undefined : spelled(parent, names);
      const body = {
        type,
        cae: '62010',
        customerId: names.customers[asked.customer],
        ...given({ parentInvoiceId, reason: reason === true ? 'Juros de mora' : undefined }),
      };
      return { method: 'POST', path: '/invoices', body: { ...body, ...changeOf(asked, names) } };
    }
    case 'patch':
      return { method: 'PATCH', path: `/invoices/${id}`, body: changeOf(command.change, names) };
    case 'patch note': {
      const { change, parent } = command;
      return { method: 'PATCH', path: `/invoices/${id}`, body: noteOf(change, names.lineIdsOf(parent, change.of)) };
    }
    case 'delete':
      return { method: 'DELETE', path: `/invoices/${id}` };
    case 'issue': {
      const expectedUpdatedAt = names.updatedAtOf(command.doc, command.revision);
      return { method: 'POST', path: `/invoices/${id}/issue`, body: { expectedUpdatedAt } };
    }
    case 'pay': {
      const amount = command.amount === undefined ? undefined : euros(command.amount);
      return { method: 'POST', path: `/invoices/${id}/pay`, body: given({ amount, date: command.date }) };
    }
    case 'credit': {
      const note = noteOf(command.note, names.lineIdsOf(command.doc, command.note.of));
      const issue = command.issue ? {} : { issue: false };
      return { method: 'POST', path: '/invoices/credit-notes', body: { parentInvoiceId: id, ...note, ...issue } };
    }
    case 'cancel':
      return { method: 'POST', path: `/invoices/${id}/cancel`, body: {} };
    case 'read':
      return { method: 'GET', path: `/invoices/${id}` };
  }
}

/** Every third document is called by its id in capitals, which is the same id. */
function spelled(doc: number, names: Names): string {
  if (doc === nobody) return unknownId;
  return doc % 3 === 2 ? names.idOf(doc).toUpperCase() : names.idOf(doc);
}

/** The same operation with another body, or of another document. */
export function otherOf({ method, path, body }: Request): Request {
  if (method === 'DELETE') return { method, path: path.replace(/[^/]+$/, otherUnknownId) };
  return { method, path, body: { ...body, notes: 'Outro pedido' } };
}

/** Cents as an amount of the API. */
export const euros = (cents: number): number => Number((cents / 100).toFixed(2));
/** Whole units of so many decimals, as a number of the API. */
export const decimal = (units: number, places: number): number => Number((units / 10 ** places).toFixed(places));

function given(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function changeOf(asked: Partial<Asked>, names: Names): Record<string, unknown> {
  const { lines, off, date, due } = asked;
  return {
    ...given({ items: lines?.map((line) => lineOf(line, names)), date, dueDate: due }),
    ...(off === undefined ? {} : discountOf(off)),
  };
}

function discountOf(off: Off): Record<string, unknown> {
  return 'percent' in off
    ? { globalDiscountType: 'PERCENT', globalDiscountPercent: decimal(off.percent, 2) }
    : { globalDiscountType: 'AMOUNT', globalDiscountAmount: euros(off.amount) };
}

function lineOf({ item, quantity, price, off }: Line, names: Names): Record<string, unknown> {
  return {
    id: names.items[item],
    quantity: decimal(quantity, 3),
    ...(price === undefined ? {} : { unitPrice: decimal(price, 4) }),
    ...(off === undefined
      ? {}
      : 'percent' in off
        ? { unitDiscountPercent: decimal(off.percent, 2) }
        : { unitDiscountAmount: euros(off.each) }),
  };
}

function noteOf({ items: wanted, date }: AskedNote, lineIds: readonly string[]): Record<string, unknown> {
  const line = ({ line: nth, quantity }: Wanted) => ({ id: lineIds[nth], quantity: decimal(quantity, 3) });
  return given({ items: wanted?.map(line), date });
}
