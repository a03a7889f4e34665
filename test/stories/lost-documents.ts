/** A company that has lost documents, and what `certo recover` does with a file of their copies. */
import type { Problem } from '../../src/fiscal/refusal.ts';
import { type FileDocument, type Planned, planRecovery } from '../../src/operations/recovery/plan.ts';
import { type RecoveredDocument, recoverDocument } from '../../src/operations/recovery/recover.ts';
import type { RecoveredBody } from '../../src/operations/recovery/recovered-document.ts';
import { registerSeries } from '../../src/operations/series/registration.ts';
import type { InvoiceJson } from '../replies.ts';
import { startService } from '../service.ts';

export type Numbered = InvoiceJson & { readonly number: string };
export type LostDocuments = Awaited<ReturnType<typeof openLostDocuments>>;

/** With a recovery series R2026 of each of these types. Its owner stops the service. */
export async function openLostDocuments(types: readonly ('INVOICE' | 'DEBIT_NOTE' | 'CREDIT_NOTE' | 'RECEIPT')[]) {
  const service = await startService({ companies: ['A'], clock: new Date('2026-03-31T10:00:00Z') });
  const { A } = service.companies;
  const { world } = service.app;
  for (const documentType of types) {
    await registerSeries(service.world, A.id, { documentType, code: 'R2026', kind: 'R' });
  }
  const customerId = (await A.customer({ name: 'Cliente, SA', taxpayerNumber: '501442600' })).id;
  const itemId = (await A.item({ unitPrice: 100 })).id;
  const items = [{ id: itemId, quantity: 3 }];
  const planned = (
    documents: readonly FileDocument[],
    digest = JSON.stringify(documents),
  ): Promise<readonly Planned[]> => planRecovery(service.db, world, { companyId: A.id, digest, documents });
  const recoverOne = (one: Planned, digest: string): Promise<RecoveredDocument> =>
    recoverDocument(service.db, world, { companyId: A.id, digest }, one);
  return {
    service,
    A,
    customerId,
    itemId,
    /** The copy of an invoice of three units, 369.00. */
    lost: (original: string, over: Partial<RecoveredBody> = {}): RecoveredBody => ({
      kind: 'D',
      original,
      type: 'INVOICE',
      cae: '62010',
      customerId,
      items,
      date: '2026-03-31',
      total: 369,
      ...over,
    }),
    /** An issued invoice of the same. */
    invoice: async (over: Record<string, unknown> = {}): Promise<Numbered> =>
      (await A.issue(await A.draft({ customerId, items, ...over }))) as Numbered,
    planned,
    recoverOne,
    async recover(
      documents: readonly FileDocument[],
      digest = JSON.stringify(documents),
    ): Promise<RecoveredDocument[]> {
      const done: RecoveredDocument[] = [];
      for (const one of await planned(documents, digest)) done.push(await recoverOne(one, digest));
      return done;
    },
    async problemsOf(...documents: readonly FileDocument[]): Promise<Problem[]> {
      try {
        await planned(documents, 'problems');
        return [];
      } catch (error) {
        return [...(error as { problems: Problem[] }).problems];
      }
    },
    /** Status, outstanding and credited of a document's row. */
    async standingOf(id: string): Promise<unknown[]> {
      const { rows } = await service.owner.query(
        'select status, outstanding::text, credited::text from certo.documents where id = $1',
        [id],
      );
      return Object.values(rows[0]);
    },
  };
}

export const told = (problems: readonly Problem[]): string[] =>
  problems.map(({ pointer, code }) => `${pointer} ${code}`);
