/** The reply of each operation to its outcome: strict for a yes, unknown for whatever is not an answer to the call. */
import type { Operation, Outcome } from './gateway.ts';
import type { bodies } from './messages.ts';
import type { XmlElement } from './read-xml.ts';
import { documentAnswer, done, outcomeOf, unknown } from './replies.ts';
import { isAbout, seriesAnswer } from './replies-series.ts';
import { transportAnswer } from './replies-transport.ts';
import type {
  DocumentReport,
  RegisterSeries,
  SeriesKey,
  SeriesQuery,
  SeriesRecord,
  TransportReport,
} from './reports.ts';

/** What an operation is given. */
export type Message<Name extends Operation> = Parameters<(typeof bodies)[Name]>[0];

const strangeReply = unknown('the reply is not an answer to this call');

/**
 * By operation: the reply's body to its outcome. A "yes" that is about another document or series counts as unknown.
 */
export const readers = {
  registerSeries: (body: XmlElement, message: RegisterSeries): Outcome<{ series: SeriesRecord }> => {
    const answer = seriesAnswer(body, 'registarSerie');
    if (answer === undefined) return strangeReply;
    const no = outcomeOf('registerSeries', answer, false);
    if (no !== undefined) return no;
    const [series, ...more] = answer.records;
    const right = answer.code === '2001' && series !== undefined && more.length === 0 && isAbout(series, message);
    return right ? done(answer, { series }) : strangeReply;
  },
  finalizeSeries: seriesChange('finalizeSeries', 'finalizarSerie', '2004'),
  annulSeries: seriesChange('annulSeries', 'anularSerie', '2003'),
  listSeries: (body: XmlElement, query: SeriesQuery): Outcome<{ series: readonly SeriesRecord[] }> => {
    const answer = seriesAnswer(body, 'consultarSeries');
    if (answer === undefined) return strangeReply;
    const no = outcomeOf('listSeries', answer, false);
    if (no !== undefined) return no;
    const right = answer.code === '2002' && answer.records.every((found) => fits(found, query));
    return right ? done(answer, { series: answer.records }) : strangeReply;
  },
  reportInvoice: documentReader('reportInvoice', 'RegisterInvoiceResponse'),
  changeInvoiceStatus: documentReader('changeInvoiceStatus', 'ChangeInvoiceStatusResponse'),
  reportWork: documentReader('reportWork', 'RegisterWorkResponse'),
  changeWorkStatus: documentReader('changeWorkStatus', 'ChangeWorkStatusResponse'),
  reportPayment: documentReader('reportPayment', 'RegisterPaymentResponse'),
  changePaymentStatus: documentReader('changePaymentStatus', 'ChangePaymentStatusResponse'),
  reportTransport: (body: XmlElement, message: TransportReport): Outcome<{ atDocCode?: string | undefined }> => {
    const reply = transportAnswer(body);
    if (reply === undefined || (reply.documentNumber ?? message.issued.number) !== message.issued.number)
      return strangeReply;
    // "Already cancelled" answers only a cancellation, "already there" only a registration.
    const repeated = (code: string) => message.resent === true && (code === '-4') === (message.status === 'A');
    const outcomes = reply.answers.map((answer) => outcomeOf('reportTransport', answer, repeated(answer.code)));
    // One "no" among several sentences decides; "-100" beside "0" is only a warning.
    const no =
      outcomes.find((outcome) => outcome?.kind === 'refused') ?? outcomes.find((outcome) => outcome !== undefined);
    const [first] = reply.answers;
    return no ?? (first === undefined ? strangeReply : done(first, { atDocCode: reply.atDocCode }));
  },
};

function seriesChange(operation: Operation, verb: string, success: string) {
  return (body: XmlElement, message: SeriesKey): Outcome => {
    const answer = seriesAnswer(body, verb);
    if (answer === undefined) return strangeReply;
    const no = outcomeOf(operation, answer, false);
    if (no !== undefined) return no;
    return answer.code === success && answer.records.every((found) => isAbout(found, message))
      ? done(answer, {})
      : strangeReply;
  };
}

function documentReader(operation: Operation, element: string) {
  return (body: XmlElement, message: DocumentReport): Outcome => {
    const answer = documentAnswer(body, element);
    if (answer === undefined) return strangeReply;
    return outcomeOf(operation, answer, message.resent ?? false) ?? done(answer, {});
  };
}

function fits(found: SeriesRecord, query: SeriesQuery): boolean {
  const same = (asked: string | undefined, is: string) =>
    asked === undefined || asked.toLowerCase() === is.toLowerCase();
  return (
    same(query.series, found.series) && same(query.documentCode, found.documentCode) && same(query.state, found.state)
  );
}
