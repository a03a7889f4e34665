/** The file of `certo recover`: read whole, checked document by document before anything else is. */
import { createHash } from 'node:crypto';
import { bounded } from '../engine/bounded.ts';
import { parseStrictJson } from '../engine/strict-json.ts';
import { validate } from '../engine/validate.ts';
import { canonicalJson } from '../fiscal/canonical.ts';
import { type Problem, refuseAll } from '../fiscal/refusal.ts';
import type { FileDocument } from '../operations/recovery/plan.ts';
import { RecoveredBody, recoveryProblems } from '../operations/recovery/recovered-document.ts';
import { RecoveredNote } from '../operations/recovery/recovered-note.ts';
import { RecoveredReceipt } from '../operations/recovery/recovered-receipt.ts';
import { readGiven, recoveryFile } from './given-file.ts';

const most_documents = 10_000;

export interface ReadFile {
  /** SHA-256 of what the file says, however it is laid out: hexadecimal. */
  readonly digest: string;
  readonly documents: readonly FileDocument[];
}

/** Refuses MALFORMED_JSON, and INVALID_REQUEST with the first problems of all documents. */
export async function readRecoveryFile(path: string): Promise<ReadFile> {
  const value = parseStrictJson(await readGiven(path, recoveryFile));
  const documents = documentsOf(value);
  const digest = createHash('sha256').update(canonicalJson(value)).digest('hex');
  refuseAll(documents.flatMap(problemsOf));
  return { digest, documents: documents as ReadFile['documents'] };
}

function documentsOf(value: unknown): unknown[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    refuseAll([{ code: 'INVALID_TYPE', pointer: '', facts: { expected: 'object' } }]);
  }
  const { documents, ...others } = value as Record<string, unknown>;
  refuseAll(Object.keys(others).map((name) => ({ code: 'UNKNOWN_FIELD', pointer: `/${name}` })));
  if (documents === undefined) refuseAll([{ code: 'REQUIRED', pointer: '/documents' }]);
  if (!Array.isArray(documents)) {
    refuseAll([{ code: 'INVALID_TYPE', pointer: '/documents', facts: { expected: 'array' } }]);
    return [];
  }
  if (documents.length === 0) refuseAll([{ code: 'TOO_FEW', pointer: '/documents', facts: { limit: 1 } }]);
  if (documents.length > most_documents) {
    refuseAll([{ code: 'TOO_MANY', pointer: '/documents', facts: { limit: most_documents } }]);
  }
  return documents;
}

function problemsOf(document: unknown, place: number): Problem[] {
  const isObject = document !== null && typeof document === 'object' && !Array.isArray(document);
  const type = isObject ? (document as Record<string, unknown>)['type'] : undefined;
  const its = type === 'CREDIT_NOTE' ? RecoveredNote : type === 'RECEIPT' ? RecoveredReceipt : RecoveredBody;
  const read = bounded(its, document);
  const schema = validate(its, read, 'file');
  const rules = isObject ? recoveryProblems(read as Record<string, unknown>) : [];
  return [...schema, ...rules].map((problem) => ({ ...problem, pointer: `/documents/${place}${problem.pointer}` }));
}
