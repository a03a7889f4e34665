/** A numbered document as its row: every frozen column with its value, sealed after the head of its series. */

import type { Row } from '../db/transact.ts';
import { atStatusOf } from '../fiscal/communicated.ts';
import { round2 } from '../fiscal/decimal.ts';
import { type Content, type Decimal, documentTypes, type Issued } from '../fiscal/document.ts';
import type { DecidedIssue } from '../fiscal/issue.ts';
import {
  documentSeal,
  frozenInOrder,
  frozenMember,
  frozenMembers,
  headSeal,
  type Mac,
  type SealedSeries,
  sealable,
  sealedMembers,
  stateSeal,
} from '../fiscal/seal.ts';
import { utcText } from '../fiscal/time.ts';
import { mostOf, type Piece, utf8 } from '../fiscal/utf8.ts';

/** What a row has had since it was inserted, and keeps. */
export interface Begun {
  readonly asked: unknown;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly applicationId: string | null;
  readonly scheduleTemplateId: string | null;
  /** The draft's last revision. Absent: it is inserted together with its number. */
  readonly updatedAt?: Date;
  /** Of a recovered document: the original's key, and the digest of the file it came from. */
  readonly recovered?: { readonly key: string; readonly file: string };
}

/** Columns of `certo.documents d` that `begunOf` reads beside `created_at` and `updated_at`. */
export const begunColumns = 'd.asked, d.created_by, d.application_id, d.schedule_template_id';

/** Of the columns in `begunColumns`. */
export function begunOf(row: Row): Begun {
  return {
    asked: row['asked'],
    createdBy: String(row['created_by']),
    createdAt: row['created_at'] as Date,
    updatedAt: row['updated_at'] as Date,
    applicationId: row['application_id'] as string | null,
    scheduleTemplateId: row['schedule_template_id'] as string | null,
  };
}

/** Of a document that is numbered as it is made. */
export function begunNow(asked: unknown, createdBy: string, now: Date, applicationId: string | null = null): Begun {
  return { asked, createdBy, createdAt: now, applicationId, scheduleTemplateId: null };
}

/** Where the seals of a series stand while a group of documents is written. */
export interface SealChain {
  /** Seal of the document before; null: there is none. */
  lastSeal: Buffer | null;
}

/** A document that has its number and signature, still to be written. */
export interface Numbered {
  readonly id: string;
  readonly companyId: string;
  readonly series: SealedSeries;
  readonly seriesId: string;
  /** Its series was chosen as the default of its type, and has to be that when it is numbered in. */
  readonly asDefault: boolean;
  readonly previousHash: string;
  /** It is sealed when it is written, in the order of the numbers. */
  readonly seals: SealChain;
  /** What was signed; null for receipts, which the law leaves unsigned. */
  readonly signedText: string | null;
  readonly decided: DecidedIssue;
  readonly issued: Issued;
  readonly now: Date;
  /** `draftedRuns` of its row, encoded, where they are known. */
  readonly drafted?: readonly Piece[] | undefined;
}

/** What a document becomes with its number. `outstanding` with 2 decimals; `actor` is whoever issues it. */
export interface Stamp {
  readonly status: 'ISSUED' | 'PAID';
  readonly outstanding: Decimal;
  readonly actor: string;
  readonly begun: Begun;
}

/** The columns of a document that move, as they stand when it is numbered. */
export interface State {
  readonly at_status: string;
  readonly credited: string;
  readonly outstanding: string;
  readonly status: string;
  readonly updated_at: Date;
}

export interface Sealed {
  /** Its frozen columns as they are sealed, in text; undefined where those of its row came encoded. */
  readonly members: readonly string[] | undefined;
  /** Of these what issuing adds; empty for what is null. */
  readonly added: readonly string[];
  /** The columns that move, and the same as members of JSON. */
  readonly state: State;
  readonly stateText: string;
  readonly seal: Buffer;
  readonly stateSeal: Buffer;
  /** Makes the seal of the series that ends with this document. */
  readonly headSeal: () => Buffer;
}

/** To be called in the order of the numbers: the seal covers that of the document before. */
export function sealNumbered(numbered: Numbered, stamp: Stamp, mac: Mac): Sealed {
  const { id, companyId, decided, drafted } = numbered;
  const state = stateOf(numbered, stamp);
  const stateText = textOfState(state);
  const added = addedBy(numbered, stamp, stateText);
  const members =
    drafted === undefined
      ? withAdded(draftedMembers({ id, companyId, content: decided.content }, stamp.begun), added)
      : undefined;
  const pieces = members === undefined ? between(drafted!, added) : [sealedMembers(members)];
  const seal = documentSeal(mac, pieces, numbered.seals.lastSeal);
  return {
    members,
    added,
    state,
    stateText,
    seal,
    stateSeal: stateSeal(mac, numbered.id, 0, seal),
    headSeal: () => headSeal(mac, numbered.series, numbered.issued.sequence, seal),
  };
}

/** When the stamp changes the row: later than its last revision. */
export function stampedAt(now: Date, { updatedAt }: Begun): Date {
  return new Date(Math.max(now.getTime(), updatedAt === undefined ? 0 : updatedAt.getTime() + 1));
}

function stateOf({ now, decided }: Numbered, { status, outstanding, begun }: Stamp): State {
  return {
    at_status: atStatusOf(decided.content),
    credited: '0.00',
    outstanding: round2(outstanding),
    status,
    updated_at: stampedAt(now, begun),
  };
}

/** Members of its canonical JSON. None of the values has anything to be escaped. */
const textOfState = ({ at_status, credited, outstanding, status, updated_at }: State): string =>
  `"at_status":"${at_status}","credited":"${credited}","outstanding":"${outstanding}","status":"${status}","updated_at":"${utcText(updated_at)}"`;

/** A document before it has a number. */
interface Drafted {
  readonly id: string;
  readonly companyId: string;
  readonly content: Content;
}

/** What of its frozen columns a document has before it is numbered, as `frozenMembers`; the others are empty. */
function draftedMembers({ id, companyId, content }: Drafted, begun: Begun): string[] {
  const { customer, totals, transport } = content;
  return frozenMembers({
    company_id: companyId,
    id,
    application_id: begun.applicationId,
    created_by: begun.createdBy,
    created_at: sealable(begun.createdAt),
    schedule_template_id: begun.scheduleTemplateId,
    asked: begun.asked,
    content,
    // Copies of what the content says, to filter and sort by.
    family: documentTypes[content.type].family,
    type: content.type,
    customer_id: customer.id,
    item_ids: sealable([...new Set(content.lines.map((line) => line.itemId))]),
    parent_id: content.parent?.id ?? null,
    origin_id: content.origin?.id ?? null,
    movement_start: transport === undefined ? null : sealable(new Date(transport.start)),
    customer_name: customer.name,
    customer_nif: customer.taxpayerNumber ?? null,
    customer_email: customer.email ?? null,
    currency: content.currency,
    description: content.description ?? null,
    notes: content.notes ?? null,
    cae: content.cae,
    tax_point_date: content.taxPointDate ?? null,
    net: round2(totals.net),
    tax: round2(totals.tax),
    gross: round2(totals.gross),
    to_pay: round2(totals.toPay),
  });
}

/** What issuing adds, in the order of what is sealed. */
const addedColumns = [
  'atcud',
  'certificate_number',
  'date',
  'due_date',
  'hash',
  'issued_at',
  'issued_by',
  'issued_state',
  'key_version',
  'number',
  'qr',
  'recovered_file',
  'recovered_key',
  'sequence',
  'series_id',
  'signed_text',
  'system_entry',
] as const;
export type AddedColumn = (typeof addedColumns)[number];
const addedPlaces = addedColumns.map((column) => frozenInOrder.indexOf(column));

function withAdded(members: readonly string[], added: readonly string[]): string[] {
  const all = [...members];
  for (const [i, member] of added.entries()) all[addedPlaces[i]!] = member;
  return all;
}

/** The same of a document before it has a number, in runs: up to where each of the columns comes that issuing adds. */
export function draftedRuns(document: Drafted, begun: Begun): string[] {
  const members = draftedMembers(document, begun);
  return [...addedPlaces, members.length].map((place, i) =>
    members
      .slice(i === 0 ? 0 : addedPlaces[i - 1]! + 1, place)
      .filter((member) => member !== '')
      .join(','),
  );
}

/** As they are sealed: each run of a draft's columns, and behind it the next that was added, with a comma between any two. */
function between(runs: readonly Piece[], added: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  // What comes in front of the next run: what was added since the last one.
  let text = '';
  let isFirst = true;
  for (let i = 0; i <= added.length; i += 1) {
    const run = runs[i]!;
    if (mostOf(run) > 0) {
      if (!isFirst) text += ',';
      if (text !== '') pieces.push(utf8(text));
      pieces.push(run);
      text = '';
      isFirst = false;
    }
    const member = added[i] ?? '';
    if (member === '') continue;
    text += isFirst ? member : `,${member}`;
    isFirst = false;
  }
  if (text !== '') pieces.push(utf8(text));
  return pieces;
}

/**
 * Members of canonical JSON, one for each of `addedColumns`; written out, as each document that is numbered comes by here. What
 * is asserted where it is made has nothing to be escaped: days and times, numbers (fiscal/series.ts), what is signed of them,
 * signatures. A validation code is opaque, and may have.
 */
function addedBy(
  { issued, decided, seriesId, signedText, now }: Numbered,
  { actor, begun: { recovered } }: Stamp,
  state: string,
): string[] {
  return [
    frozenMember('atcud', issued.atcud),
    `"certificate_number":"${issued.certificateNumber}"`,
    `"date":"${decided.date}"`,
    `"due_date":"${decided.dueDate}"`,
    `"hash":"${issued.hash}"`,
    `"issued_at":"${utcText(now)}"`,
    frozenMember('issued_by', actor),
    `"issued_state":{${state}}`,
    `"key_version":"${issued.keyVersion}"`,
    `"number":"${issued.number}"`,
    frozenMember('qr', issued.qr),
    frozenMember('recovered_file', recovered?.file),
    frozenMember('recovered_key', recovered?.key),
    `"sequence":"${issued.sequence}"`,
    `"series_id":"${seriesId}"`,
    signedText === null ? '' : `"signed_text":"${signedText}"`,
    `"system_entry":"${issued.systemEntry}"`,
  ];
}
