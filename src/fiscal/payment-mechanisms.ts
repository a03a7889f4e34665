/** Means of payment: the codes of SAF-T's PaymentMechanism (Portaria 302/2016, annex I) and their names. */

interface MechanismNames {
  readonly pt: string;
  readonly en: string;
}

export const paymentMechanisms = {
  CC: { pt: 'Cartão de crédito', en: 'Credit card' },
  CD: { pt: 'Cartão de débito', en: 'Debit card' },
  CH: { pt: 'Cheque bancário', en: 'Cheque' },
  CI: { pt: 'Crédito documentário internacional', en: 'International documentary credit' },
  CO: { pt: 'Cheque ou cartão oferta', en: 'Gift voucher or card' },
  CS: { pt: 'Compensação de saldos em conta corrente', en: 'Current account set-off' },
  DE: { pt: 'Dinheiro eletrónico', en: 'Electronic money' },
  LC: { pt: 'Letra comercial', en: 'Bill of exchange' },
  MB: { pt: 'Referência de pagamento para Multibanco', en: 'Multibanco reference' },
  NU: { pt: 'Numerário', en: 'Cash' },
  OU: { pt: 'Outros meios', en: 'Other means' },
  PR: { pt: 'Permuta de bens', en: 'Barter' },
  TB: { pt: 'Transferência bancária ou débito direto autorizado', en: 'Bank transfer or authorised direct debit' },
  TR: { pt: 'Títulos de compensação extrassalarial', en: 'Meal or benefit vouchers' },
} as const satisfies Record<string, MechanismNames>;

export type PaymentMechanism = keyof typeof paymentMechanisms;

/** Shorter names that people write. */
const otherNames: Readonly<Record<string, PaymentMechanism>> = {
  multibanco: 'MB',
  cheque: 'CH',
  dinheiro: 'NU',
  'transferencia bancaria': 'TB',
  transferencia: 'TB',
  'bank transfer': 'TB',
  'debito direto': 'TB',
  'direct debit': 'TB',
  'gift card': 'CO',
  'gift voucher': 'CO',
  'meal voucher': 'TR',
  outro: 'OU',
  other: 'OU',
};

const byName = new Map<string, PaymentMechanism>(Object.entries(otherNames));
for (const [code, names] of Object.entries(paymentMechanisms)) {
  for (const name of [code, names.pt, names.en]) byName.set(folded(name), code as PaymentMechanism);
}

/** The code that a code or a name means, in Portuguese or English; case, accents and `_` for spaces do not matter. */
export function mechanism(codeOrName: string): PaymentMechanism | undefined {
  return byName.get(folded(codeOrName));
}

function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[_\s]+/g, ' ')
    .trim()
    .toLowerCase();
}
