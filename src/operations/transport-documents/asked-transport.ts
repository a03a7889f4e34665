/** What a caller asks of a transport document, and how a change is laid over it. It is a draft like others, with a journey. */
import type { Static } from 'typebox';
import { Type } from 'typebox';
import type { Row } from '../../db/transact.ts';
import { fits } from '../../fiscal/cut.ts';
import type { DocumentType, Place, Region, Transport } from '../../fiscal/document.ts';
import { isPostalCode } from '../../fiscal/identifiers.ts';
import { type Problem, refuseAll } from '../../fiscal/refusal.ts';
import { isInstant } from '../../fiscal/time.ts';
import { isLicensePlate, timeProblems } from '../../fiscal/transport.ts';
import { closed, id, instant, line, oneOf, quantity } from '../fields.ts';
import { type AskedDraft, askedLine, cleared } from '../invoices/draft.ts';

const longest_plate = 32;

export const movementTypes = [
  'GUIA_DE_ATIVOS_PROPRIOS',
  'GUIA_DE_CONSIGNACAO',
  'GUIA_DE_DEVOLUCAO',
  'GUIA_DE_REMESSA',
  'GUIA_DE_TRANSPORTE',
] as const satisfies readonly DocumentType[];

/** DL 147/2003, article 4: places are part of the document, so each has all of its parts. */
const place = (description: string) =>
  closed(
    {
      address: line(210, 'Street and number.', 1),
      postalCode: line(20, 'NNNN-NNN for PT.', 1, '1000-001'),
      city: line(50, 'City.', 1),
      country: Type.String({ format: 'country', description: 'ISO 3166-1 alpha-2.', examples: ['PT'] }),
    },
    description,
  );

const required = {
  movementType: oneOf(movementTypes, 'Kind of transport document.'),
  customerId: id('Id of the customer: the recipient.'),
  items: Type.Array(closed({ id: id('Id of the catalogue item.'), quantity: quantity('Above 0.') }), {
    minItems: 1,
    maxItems: 1000,
    description: 'The goods.',
  }),
  movementDate: instant('Start of the transport; not before the moment of issue.'),
  loading: place('Where the goods are loaded.'),
  unloading: place('Where they are unloaded.'),
};
const optional = {
  movementEndDate: Type.Optional(instant('End of the transport.')),
  licensePlate: Type.Optional(line(longest_plate, 'Licence plate of the vehicle.', 0, 'AA-00-AA')),
  comments: Type.Optional(line(60, 'Printed, and exported in SAF-T.')),
  valued: Type.Optional(Type.Boolean({ description: 'Whether it has prices; false when absent.' })),
  seriesId: Type.Optional(id('Id from GET /series; the default series of the type when absent.')),
};

export const TransportBody = closed({ ...required, ...optional });
export const TransportPatch = closed({
  movementType: Type.Optional(required.movementType),
  customerId: Type.Optional(required.customerId),
  items: Type.Optional(required.items),
  movementDate: Type.Optional(required.movementDate),
  loading: Type.Optional(required.loading),
  unloading: Type.Optional(required.unloading),
  ...optional,
});
type TransportPatch = Static<typeof TransportPatch>;

/** Rules on the body alone; members of a wrong type are the schema's business. */
export function transportProblems(body: Record<string, unknown>): Problem[] {
  const problems: Problem[] = [];
  const badForm = (pointer: string, format: string) =>
    problems.push({ code: 'INVALID_FORMAT', pointer, facts: { format } });
  for (const name of ['loading', 'unloading'] as const) problems.push(...placeProblems(body[name], `/${name}`));
  for (const name of ['movementDate', 'movementEndDate'] as const) {
    const value = body[name];
    // Near the ends of the calendar an instant can leave it in UTC.
    if (typeof value === 'string' && isInstant(value) && !/^\d{4}-/.test(new Date(value).toISOString()))
      badForm(`/${name}`, '2026-11-21T10:00:00.000Z');
  }
  const { licensePlate } = body;
  // Of one that is too long the schema says so; it counts characters, of which some are two units.
  const isRead = typeof licensePlate === 'string' && fits(licensePlate, longest_plate);
  if (isRead && licensePlate.trim() !== '' && !isLicensePlate(licensePlate))
    badForm('/licensePlate', 'AA-00-AA / AA 00 00 / L-123456');
  return problems;
}

function placeProblems(place: unknown, pointer: string): Problem[] {
  if (place === null || typeof place !== 'object') return [];
  const { postalCode, country } = place as Record<string, unknown>;
  // A foreign code has the form of its country; the schema refuses a blank one.
  if (country !== 'PT' || typeof postalCode !== 'string' || postalCode.trim() === '' || isPostalCode(postalCode))
    return [];
  return [{ code: 'INVALID_FORMAT', pointer: `${pointer}/postalCode`, facts: { format: 'NNNN-NNN' } }];
}

export type AskedTransport = AskedDraft & { readonly transport: Transport };

/** Of what was asked for a draft of any kind. */
export const isTransport = (asked: AskedDraft): asked is AskedTransport => asked.transport !== undefined;

/**
 * Lays a body over what was asked before (nothing, for a new draft). The activity is filled in by `withActivity`, which
 * knows the company.
 */
export function mergeTransport(
  before: AskedTransport | undefined,
  body: TransportPatch,
  newId: () => string,
): AskedTransport {
  const earlier = before?.transport;
  const type = body.movementType ?? before!.type;
  // Tax is withheld from what is paid for, and nobody pays a transport document.
  const lines = body.items?.map((item) => askedLine({ ...item, withholdingTaxEnabled: false }, newId));
  return {
    type,
    cae: '',
    customerId: body.customerId ?? before!.customerId,
    items: lines ?? before!.items,
    // A series is of one type: with another type goes the series that was named for the former.
    seriesId: body.seriesId ?? (type === before?.type ? before.seriesId : undefined),
    currency: 'EUR',
    transport: {
      start: utc(body.movementDate) ?? earlier!.start,
      end: utc(body.movementEndDate) ?? earlier?.end,
      loading: placeOf(body.loading) ?? earlier!.loading,
      unloading: placeOf(body.unloading) ?? earlier!.unloading,
      licensePlate: cleared(body.licensePlate?.toUpperCase(), earlier?.licensePlate),
      comments: cleared(body.comments, earlier?.comments),
      valued: body.valued ?? earlier?.valued ?? false,
    },
  };
}

/** The contract has no activity code here: the company's first one, which SAF-T tells. */
export function withActivity(asked: AskedTransport, references: Row): AskedTransport {
  const [first = ''] = (references['company'] as Row)['cae'] as string[];
  return { ...asked, cae: first };
}

/** Refuses times that are wrong, as far as the body gives any. */
export function checkTimes(
  { transport }: AskedTransport,
  body: { readonly movementDate?: string; readonly movementEndDate?: string },
  now: Date,
  region: Region,
): void {
  const given = { start: body.movementDate !== undefined, end: body.movementEndDate !== undefined };
  refuseAll(timeProblems(transport, given, now, region));
}

const utc = (text: string | undefined) => (text === undefined ? undefined : new Date(text).toISOString());

function placeOf(place: Place | undefined): Place | undefined {
  if (place === undefined) return undefined;
  const { address, postalCode, city, country } = place;
  return { address, postalCode, city, country };
}
