/** Codes that stand in for ids and words of ours where SAF-T's fields are short or fixed. */
import type { Content, Party } from '../document.ts';
import { exemptions } from '../exemptions.ts';
import { isUuid } from '../identifiers.ts';
import { originalOf } from '../recovery.ts';
import type { SaftIssued } from './source.ts';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * CustomerID, at most 30 characters: "CF" for the one generic final consumer; a UUID has 36 characters and becomes the 26
 * of Crockford's base 32, which keeps all its bits and reads the same in either letter case. `identity`: which of the
 * customer's tax identities is meant, where documents show several: "-2" is the second that they showed.
 */
export function customerCode(party: Pick<Party, 'id' | 'finalConsumer'>, identity = 1): string {
  if (party.finalConsumer === true) return 'CF';
  const code = isUuid(party.id) ? base32(party.id) : party.id;
  return identity === 1 ? code : `${code}-${identity}`;
}

function base32(id: string): string {
  let bits = BigInt(`0x${id.replaceAll('-', '')}`);
  let code = '';
  for (let place = 0; place < 26; place += 1) {
    code = alphabet[Number(bits & 31n)] + code;
    bits >>= 5n;
  }
  return code;
}

/** The two letters before the series: "FT" of "FT A2026/1", "RC" of a receipt of the cash VAT scheme. */
export function typeCodeOf({ number }: Pick<SaftIssued, 'number'>): string {
  return number.slice(0, number.indexOf(' '));
}

const reasons = new Map(exemptions.map(({ code, saftReason }) => [code, saftReason]));

/** TaxExemptionReason: by the code alone, since what was issued under a code that has ended is exported all the same. */
export function exemptionReason(code: string): string {
  return reasons.get(code) ?? `Isenção ${code}`;
}

/**
 * HashControl (hash chain, section 6): the key's version; behind it what a recovered document was. Receipts have none.
 */
export function hashControl({ recovered }: Content, issued: SaftIssued): string {
  const version = String(issued.keyVersion);
  return recovered === undefined ? version : `${version}-${originalOf(typeCodeOf(issued), recovered)}`;
}
