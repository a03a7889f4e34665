/**
 * What each code of the AT means for us. Sources: manuals of series (specific part, 2.1 to 2.4), invoice elements
 * (January 2023, response tables) and transport documents (December 2022, response table).
 */
import type { Operation, RefusedReason } from './gateway.ts';

/** `unknown`: nobody knows, so it is tried again. A reason: it was refused, and for what. */
export type Verdict = 'done' | 'unknown' | RefusedReason;
type Table = Readonly<Record<string, Verdict>>;

/** All codes of a list with one verdict. */
function all(verdict: Verdict, codes: string): Table {
  return Object.fromEntries(codes.split(' ').map((code) => [code, verdict]));
}

/**
 * Authentication, positive numbers. 1 to 6 are what the taxpayer typed, 99 a wrong password or suspended access.
 * 10 (expired) and 12 (key repeated) pass with a fresh header once the clock is right, so they are tried again.
 */
const authentication: Table = {
  ...all('credentials', '1 2 3 4 5 6 99'),
  ...all('configuration', '7 8 9 11 13 14 15 16 17 18 19 20 33'),
  ...all('unknown', '10 12'),
};

/** The transport service numbers some of them differently: 11 is expired, 13 is key repeated, 10 the time's format. */
const transportAuthentication: Table = {
  ...authentication,
  ...all('configuration', '9 10 12 14 15 50 51'),
  // 52: the AT could not check the user's permissions.
  ...all('unknown', '11 13 52'),
};

const series: Table = {
  ...authentication,
  ...all('done', '2001 2002 2003 2004'),
  ...all('data', '4000 4002 4003 4045 4046 4047 4048 4049 4051'),
  // 4001 already registered, 4004/4005 can't annul or finalise (perhaps because an earlier call did): listSeries tells.
  ...all('inspect', '4001 4004 4005'),
  ...all('configuration', '4043'),
  ...all('unknown', '5000'),
};

const documents: Table = {
  ...authentication,
  ...all('done', '0'),
  // -16 no permission for this NIF, -17 NIF invalid.
  ...all('configuration', '-16 -17'),
  ...all('unknown', '-97 -99'),
};

const transport: Table = {
  ...transportAuthentication,
  // -100 is a warning: the start is past, taken as a late communication.
  ...all('done', '0 -100'),
  ...all('data', '-1 -2 -5 -6 -9 -11 -13 -14 -15 -16 -17 -18 -19 -20 -21 -22 -23 -26 -27'),
  ...all('data', '-20005 -20006 -20007 -20008 -20009'),
  ...all('inspect', '-3 -4 -8 -24'),
  ...all('configuration', '-7 -10'),
  // -12 and -25: the AT could not check the sender's activity or the series just now.
  ...all('unknown', '-12 -25 -99 -20000'),
};

const tables: Readonly<Record<Operation, Table>> = {
  registerSeries: series,
  finalizeSeries: series,
  annulSeries: series,
  listSeries: series,
  reportInvoice: {
    ...documents,
    // -10: already registered by the issuer, with these values.
    ...all('done', '-10'),
    ...all('data', '-1 -4 -5 -6 -7 -8 -28 -39 -50'),
    ...all('inspect', '-2 -3 -9'),
  },
  changeInvoiceStatus: { ...documents, ...all('data', '-12 -31'), ...all('inspect', '-11') },
  reportWork: { ...documents, ...all('done', '-22'), ...all('data', '-20 -21 -29 -45 -51') },
  changeWorkStatus: { ...documents, ...all('data', '-18 -26 -32 -37 -43'), ...all('inspect', '-19') },
  reportPayment: { ...documents, ...all('done', '-25'), ...all('data', '-23 -24 -30') },
  changePaymentStatus: { ...documents, ...all('data', '-26 -27 -33'), ...all('inspect', '-38') },
  reportTransport: transport,
};

/**
 * Answers that mean "it is already so", believed only when an earlier attempt may have arrived: the status is already
 * what was asked (-12 invoices, -37 working documents, -26 receipts), the transport document is there (-3, -24) or cancelled (-4).
 * The AT documents no code of its own for these repeats; a first attempt with such an answer goes to a person.
 */
const repeats: Readonly<Partial<Record<Operation, readonly string[]>>> = {
  changeInvoiceStatus: ['-12'],
  changeWorkStatus: ['-37'],
  changePaymentStatus: ['-26'],
  reportTransport: ['-3', '-24', '-4'],
};

/** An answer that stands in no table is an answer: it goes to a person, not into an endless retry. */
export function verdictOf(operation: Operation, code: string, resent: boolean): Verdict {
  if (resent && repeats[operation]?.includes(code) === true) return 'done';
  return tables[operation][code] ?? 'inspect';
}
