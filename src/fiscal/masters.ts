/**
 * What of a customer or an item locks once issued documents use it (Despacho 8632/2014, 3.3; the name: 3.3.4): documents keep
 * their own frozen copy, but master data must go on telling the same person and the same thing.
 */
import { buyerTaxId } from './buyer.ts';
import { finalConsumerNif } from './nif.ts';
import { type Problem, Refusal, type RefusalCode } from './refusal.ts';

interface CustomerIdentity {
  /** The name that documents show. */
  readonly name: string;
  readonly taxpayerNumber?: string | null | undefined;
  /** ISO 3166-1 alpha-2: also whose number it is. */
  readonly country?: string | undefined;
}

export interface CustomerChange {
  /** The built-in final consumer. */
  readonly system?: boolean;
  /** An issued document names this customer. */
  readonly used: boolean;
  readonly before: CustomerIdentity;
  readonly after: CustomerIdentity;
}

/**
 * Throws SYSTEM_CUSTOMER, CUSTOMER_NIF_LOCKED, CUSTOMER_COUNTRY_LOCKED or CUSTOMER_NAME_LOCKED (the first that fits; all
 * places in `problems`). Once used: the NIF never changes, nor the country that it is of, but both may be filled in where
 * there was none or 999999990; the name never changes while there is no NIF. Filling the NIF in does not free the name in
 * the same step: the documents so far knew only the name.
 */
export function customerLockProblems(change: CustomerChange): void {
  if (change.system) throw new Refusal('SYSTEM_CUSTOMER');
  if (!change.used) return;
  const { before, after } = change;
  const problems: Problem[] = [];
  const known = ownNumber(before);
  if (known !== '' && ownNumber(after) !== known) {
    problems.push({ code: 'CUSTOMER_NIF_LOCKED', pointer: '/taxpayerNumber' });
  }
  if (known !== '' && after.country !== before.country) {
    problems.push({ code: 'CUSTOMER_COUNTRY_LOCKED', pointer: '/country' });
  }
  if (known === '' && after.name !== before.name) problems.push({ code: 'CUSTOMER_NAME_LOCKED', pointer: '/name' });
  refuseFirst(problems);
}

/**
 * The tax identities that documents of a customer may show, in the order in which it had them, after a change of the
 * record; null while there is one only. What documents do not name yet has none behind it.
 */
export function taxIdentities(
  { used, before, after }: Omit<CustomerChange, 'system'>,
  known: readonly string[] | null,
): readonly string[] | null {
  const [old, now] = [taxIdentity(before), taxIdentity(after)];
  if (!used || old === now) return known;
  const all = known ?? [old];
  return all.includes(now) ? all : [...all, now];
}

/** Tax number and country as SAF-T, QR code and AT tell them: "501442600 PT", "999999990 ES". */
function taxIdentity({ taxpayerNumber, country = '' }: CustomerIdentity): string {
  return `${buyerTaxId({ taxpayerNumber: taxpayerNumber ?? undefined })} ${country}`;
}

/** Throws ITEM_NAME_LOCKED when an item that issued documents name (SAF-T ProductDescription) would get another name. */
export function itemLockProblems(change: {
  readonly used: boolean;
  readonly before: { readonly name: string };
  readonly after: { readonly name: string };
}): void {
  if (!change.used || change.before.name === change.after.name) return;
  refuseFirst([{ code: 'ITEM_NAME_LOCKED', pointer: '/name' }]);
}

function ownNumber(identity: CustomerIdentity): string {
  const number = identity.taxpayerNumber ?? '';
  return number === finalConsumerNif ? '' : number;
}

function refuseFirst(problems: readonly Problem[]): void {
  const first: RefusalCode | undefined = problems[0]?.code;
  if (first !== undefined) throw new Refusal(first, {}, { problems });
}
