/** Every code of the AT's response tables, by operation, with what follows from it. */
import { describe, expect, test } from 'vitest';
import { type Verdict, verdictOf } from './codes.ts';
import { type Operation, operations } from './gateway.ts';

/** "done", "try again", or who has to act: the words of the manuals' tables, not ours. */
const follows: Readonly<Record<Verdict, string>> = {
  done: 'the AT has it',
  unknown: 'try again later',
  credentials: 'stop this company',
  configuration: 'a person sets it right',
  inspect: 'a person looks',
  data: 'this document is wrong',
};

const series: readonly Operation[] = ['registerSeries', 'finalizeSeries', 'annulSeries', 'listSeries'];
const documents = operations.filter((one) => !series.includes(one) && one !== 'reportTransport');

const rows: readonly (readonly [operations: readonly Operation[], codes: string, verdict: string])[] = [
  [[...series, ...documents], '1 2 3 4 5 6 99', 'stop this company'],
  [[...series, ...documents], '7 8 9 11 13 14 15 16 17 18 19 20 33', 'a person sets it right'],
  [[...series, ...documents], '10 12', 'try again later'],
  [['reportTransport'], '1 2 3 4 5 6 99', 'stop this company'],
  [['reportTransport'], '7 8 9 10 12 14 15 16 17 18 19 20 33 50 51', 'a person sets it right'],
  [['reportTransport'], '11 13 52', 'try again later'],
  [series, '2001 2002 2003 2004', 'the AT has it'],
  [series, '4000 4002 4003 4045 4046 4047 4048 4049 4051', 'this document is wrong'],
  [series, '4001 4004 4005', 'a person looks'],
  [series, '4043', 'a person sets it right'],
  [series, '5000', 'try again later'],
  [documents, '0', 'the AT has it'],
  [documents, '-16 -17', 'a person sets it right'],
  [documents, '-97 -99', 'try again later'],
  [['reportInvoice'], '-10', 'the AT has it'],
  [['reportInvoice'], '-1 -4 -5 -6 -7 -8 -28 -39 -50', 'this document is wrong'],
  [['reportInvoice'], '-2 -3 -9', 'a person looks'],
  [['changeInvoiceStatus'], '-12 -31', 'this document is wrong'],
  [['changeInvoiceStatus'], '-11', 'a person looks'],
  [['reportWork'], '-22', 'the AT has it'],
  [['reportWork'], '-20 -21 -29 -45 -51', 'this document is wrong'],
  [['changeWorkStatus'], '-18 -26 -32 -37 -43', 'this document is wrong'],
  [['changeWorkStatus'], '-19', 'a person looks'],
  [['reportPayment'], '-25', 'the AT has it'],
  [['reportPayment'], '-23 -24 -30', 'this document is wrong'],
  [['changePaymentStatus'], '-26 -27 -33', 'this document is wrong'],
  [['changePaymentStatus'], '-38', 'a person looks'],
  [['reportTransport'], '0 -100', 'the AT has it'],
  [
    ['reportTransport'],
    '-1 -2 -5 -6 -9 -11 -13 -14 -15 -16 -17 -18 -19 -20 -21 -22 -23 -26 -27',
    'this document is wrong',
  ],
  [['reportTransport'], '-20005 -20006 -20007 -20008 -20009', 'this document is wrong'],
  [['reportTransport'], '-3 -4 -8 -24', 'a person looks'],
  [['reportTransport'], '-7 -10', 'a person sets it right'],
  [['reportTransport'], '-12 -25 -99 -20000', 'try again later'],
];

test.each(rows)('%s: %s: %s', (which, codes, expected) => {
  for (const operation of which) {
    for (const code of codes.split(' ')) {
      expect([operation, code, follows[verdictOf(operation, code, false)]]).toEqual([operation, code, expected]);
    }
  }
});

describe('an answer that stands in no table', () => {
  test.each(operations)('%s: a person looks', (operation) => {
    for (const code of ['-1000', '1000', '98', '2005']) expect(verdictOf(operation, code, false)).toBe('inspect');
  });
});

test('"it is so already" is believed only when an earlier attempt may have arrived', () => {
  const believed: readonly (readonly [Operation, string])[] = [
    ['changeInvoiceStatus', '-12'],
    ['changeWorkStatus', '-37'],
    ['changePaymentStatus', '-26'],
    ['reportTransport', '-3'],
    ['reportTransport', '-24'],
    ['reportTransport', '-4'],
  ];
  for (const [operation, code] of believed) {
    expect(verdictOf(operation, code, true)).toBe('done');
    expect(verdictOf(operation, code, false)).not.toBe('done');
  }
  // No other answer becomes a yes by being repeated.
  for (const operation of operations) {
    for (const [which, codes] of rows) {
      if (!which.includes(operation)) continue;
      for (const code of codes.split(' ')) {
        if (believed.some(([one, other]) => one === operation && other === code)) continue;
        expect([operation, code, verdictOf(operation, code, true)]).toEqual([
          operation,
          code,
          verdictOf(operation, code, false),
        ]);
      }
    }
  }
});
