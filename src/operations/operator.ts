/**
 * What the operator does to a company by a command stands in its audit, as what is asked over the API does: in the
 * transaction that does it, so that what was refused is not there.
 */
import type { OwnerClient } from '../db/owner-transaction.ts';
import { type Call, statement } from '../db/transact.ts';

/** Who acts by a command: a user code of SAF-T. */
export const operator = 'operator';

/** Commands as the audit names them: none of them is in the list of operations. */
type Act =
  | 'createCompany'
  | 'changeCompany'
  | 'setCashVat'
  | 'setAtCredentials'
  | 'registerSeries'
  | 'setDefaultSeries'
  | 'finalizeSeries'
  | 'annulSeries'
  | 'createApiKey'
  | 'rotateApiKey'
  | 'revokeApiKey'
  | 'addTemplate'
  | 'changeTemplate'
  | 'setDefaultTemplate'
  | 'archiveTemplate'
  | 'reportAgain'
  | 'resolveFindings'
  | 'recoverDocument'
  | 'importAtInvoices';

// Nobody asks for an entry by its id, so the database makes it.
const insertAct = statement(
  'operator_act',
  `insert into certo.audit (company_id, id, actor, operation, subject_id, request_id)
   values (certo.current_company(), gen_random_uuid(), $1, $2, $3, 'command')`,
);

/** The entry of an act in the company of the transaction. `subject`: the id of what it was done to. */
export function actCall(act: Act, subject: string, actor = operator): Call {
  return [insertAct, [actor, act, subject]];
}

/** The same in a transaction of the owner, who is in no company. */
export async function writeAct(owner: OwnerClient, companyId: string, act: Act, subject = companyId): Promise<void> {
  const [{ text }, values] = actCall(act, subject);
  await owner.query('select certo.enter_company($1)', [companyId]);
  await owner.query(text, [...values]);
}
