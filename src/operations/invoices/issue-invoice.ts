/**
 * Issue: the act that can't be undone. The draft and its series are locked, the law decides, the chain is signed, and
 * number, signature, ATCUD, QR and the frozen document are written in one transaction together with the claim and the
 * audit. Reporting to the AT follows from the `PENDING` that this leaves behind; issuing never waits for it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { type Content, type DocumentType, documentTypes, type Issued } from '../../fiscal/document.ts';
import { type DecidedIssue, decideIssue, finishIssue, type IssueFacts, type SeriesHead } from '../../fiscal/issue.ts';
import { readiness } from '../../fiscal/readiness.ts';
import { assert, Refusal } from '../../fiscal/refusal.ts';
import { readinessColumns, readinessFacts } from '../company/company.ts';
import { closed, idParams, instant } from '../fields.ts';
import { defineWrite } from '../operation.ts';
import type { World } from '../world.ts';
import { draftToChange, InvoiceReply, showInvoice } from './invoice.ts';

// The series named by the draft, else the default of its type.
const lockSeries = statement(
  'issue_series',
  `select s.id, s.document_type, s.code, s.validation_code, s.last_number, s.last_date, s.last_hash, s.last_system_entry
   from certo.series s
   where s.company_id = certo.current_company() and s.document_type = $1 and s.status = 'ACTIVE'
     and case when $2::uuid is null then s.is_default else s.id = $2 end
   for update`,
);
// After the lock, in the same round trip: the time must not be older than what the lock waited for.
const readMoment = statement(
  'issue_moment',
  `select certo.now() as now, ${readinessColumns},
     (select max(s.last_issued_at) from certo.series s where s.company_id = c.id) as last_signed
   from certo.companies c where c.id = certo.current_company()`,
);
const issueDocument = statement(
  'issue_document',
  `update certo.documents set status = 'ISSUED', updated_at = greatest(certo.now(), updated_at + interval '1 millisecond'),
     content = $2, series_id = $3, date = $4, due_date = $5, net = $6, tax = $7, gross = $8, to_pay = $9, outstanding = $10,
     sequence = $11, number = $12, atcud = $13, hash = $14, key_version = $15, certificate_number = $16, system_entry = $17,
     qr = $18, issued_at = $19, issued_by = $20, at_status = 'PENDING'
   where company_id = certo.current_company() and id = $1 and number is null
   returning updated_at`,
);
const moveSeries = statement(
  'issue_move_series',
  `update certo.series set last_number = $2, last_date = $3, last_hash = $4, last_system_entry = $5, last_issued_at = $6, updated_at = $6
   where company_id = certo.current_company() and id = $1 and last_number = $2 - 1 and last_hash = $7
   returning id`,
);
const lockNames = statement(
  'issue_lock_customer',
  'update certo.customers set used = true where company_id = certo.current_company() and id = $1 and not used',
);
const lockItems = statement(
  'issue_lock_items',
  'update certo.items set used = true where company_id = certo.current_company() and id = any ($1::uuid[]) and not used',
);

/** Types that wait for a payment; the others are paid by what they are. */
const awaitsPayment: ReadonlySet<DocumentType> = new Set(['INVOICE', 'DEBIT_NOTE']);

interface IssueChange {
  readonly id: string;
  readonly row: Row;
  readonly seriesId: string;
  readonly previousHash: string;
  readonly decided: DecidedIssue;
  readonly issued: Issued;
  readonly now: Date;
  saved: Row;
}

export const issueInvoice = defineWrite({
  name: 'issueInvoice',
  route: 'POST /invoices/:id/issue',
  tag: 'Invoices',
  summary: 'Issue a draft',
  description:
    'Assigns number, ATCUD, signature and QR code, freezes the document for ever and reports it to the tax authority. It can not be undone; a mistake is corrected with a credit note.',
  params: idParams('Id of the draft.'),
  body: closed({ expectedUpdatedAt: instant('The updatedAt of the draft as you read it.') }),
  reply: [200, InvoiceReply],
  access: { key: true, oauth: ['invoicing.issue'] },
  fiscal: true,
  tool: 'issue_invoice',
  refuses: [
    'INVOICE_NOT_FOUND',
    'INVALID_STATE',
    'DRAFT_CHANGED',
    'NOT_READY',
    'PARENT_REQUIRED',
    'DATE_GOES_BACK',
    'DATE_IN_FUTURE',
    'SIMPLIFIED_LIMIT',
    'QR_TOO_MANY_REGIONS',
    'CLOCK_REGRESSION',
  ],
  async load(tx, asked) {
    const row = await draftToChange(tx, asked.params.id);
    const [series, moment] = await tx.batch([
      [lockSeries, [row['type'], row['series_id']]],
      [readMoment, []],
    ]);
    assert(moment?.[0] !== undefined, 'a credential opens a company that exists');
    return { row, series: series?.[0], moment: moment[0] };
  },
  async decide({ row, series, moment }, asked, world): Promise<IssueChange> {
    const currentUpdatedAt = (row['updated_at'] as Date).toISOString();
    if (Date.parse(asked.body.expectedUpdatedAt) !== Date.parse(currentUpdatedAt)) {
      throw new Refusal('DRAFT_CHANGED', {}, { members: { currentUpdatedAt } });
    }
    const { decided, now } = await decideInTime({
      content: row['content'] as Content,
      head: series === undefined ? undefined : headOf(series),
      now: moment['now'] as Date,
      region: asked.principal.region,
      lastSigned: (moment['last_signed'] as Date | null) ?? undefined,
      notReady: readiness(readinessFacts(moment), world.baseUrl),
      certificateNumber: world.certificateNumber,
      keyVersion: world.keyVersion,
    });
    assert(series !== undefined && decided.parts !== undefined, 'a decided sales document has a series and is signed');
    const previousHash = String(series['last_hash']);
    const { signatures, keyVersion } = await world.sign(previousHash, [decided.parts]);
    assert(keyVersion === world.keyVersion, 'the signer uses the key it was decided for');
    const issued = finishIssue(decided, signatures[0]!);
    return { id: asked.params.id, row, seriesId: String(series['id']), previousHash, decided, issued, now, saved: {} };
  },
  async save(tx, change, asked) {
    const { decided, issued, now } = change;
    const { content } = decided;
    const itemIds = [...new Set(content.lines.map((line) => line.itemId))];
    const [saved, moved] = await tx.batch([
      [issueDocument, [change.id, ...issueValues(change), asked.principal.actor]],
      [
        moveSeries,
        [change.seriesId, issued.sequence, issued.date, issued.hash, issued.systemEntry, now, change.previousHash],
      ],
      [lockNames, [content.customer.id]],
      [lockItems, [itemIds]],
    ]);
    assert(saved?.length === 1 && moved?.length === 1, 'a locked draft and a locked series can be written');
    change.saved = saved[0]!;
    return change.id;
  },
  show: (change, asked, world) => showIssued(change, asked.principal, world),
  after: (world) => world.nudgeReports(),
});

/** Decides; when the clock is a little behind the last signature, waits for it first (decisions 3, Fiscal time). */
async function decideInTime(facts: IssueFacts): Promise<{ decided: DecidedIssue; now: Date }> {
  const first = decideIssue(facts);
  if (first.wait === undefined) return { decided: first, now: facts.now };
  await sleep(first.wait);
  const now = new Date(facts.now.getTime() + first.wait);
  const second = decideIssue({ ...facts, now });
  assert(second.wait === undefined, 'the clock has caught up after the wait');
  return { decided: second, now };
}

function headOf(series: Row): SeriesHead {
  return {
    documentType: series['document_type'] as DocumentType,
    code: String(series['code']),
    validationCode: String(series['validation_code']),
    lastSequence: Number(series['last_number']),
    lastDate: (series['last_date'] as string | null) ?? undefined,
    lastSystemEntry: (series['last_system_entry'] as string | null) ?? undefined,
    lastHash: String(series['last_hash']),
  };
}

/** Values $2 to $19 of `issueDocument`. */
function issueValues({ decided, issued, seriesId, now }: IssueChange): unknown[] {
  const { content } = decided;
  const { totals } = content;
  return [
    JSON.stringify(content),
    seriesId,
    decided.date,
    decided.dueDate,
    totals.net,
    totals.tax,
    totals.gross,
    totals.toPay,
    awaitsPayment.has(content.type) ? totals.toPay : '0',
    issued.sequence,
    issued.number,
    issued.atcud,
    issued.hash,
    issued.keyVersion,
    issued.certificateNumber,
    issued.systemEntry,
    issued.qr,
    now,
  ];
}

function showIssued(
  change: IssueChange,
  principal: { region: IssueFacts['region']; companyId: string },
  world: World,
): unknown {
  const { decided, issued, now, row, saved } = change;
  assert(documentTypes[decided.content.type].family === 'SALES', 'only sales documents are issued here');
  const shown = {
    ...row,
    status: 'ISSUED',
    updated_at: saved['updated_at'],
    series_id: change.seriesId,
    series_name: issued.seriesCode,
    number: issued.number,
    atcud: issued.atcud,
    hash: issued.hash,
    date: decided.date,
    due_date: decided.dueDate,
    content: decided.content,
    qr: issued.qr,
    issued_at: now,
    at_status: 'PENDING',
    now,
  };
  return showInvoice(shown, principal.region, principal.companyId, world);
}
