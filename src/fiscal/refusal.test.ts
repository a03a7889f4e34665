import { expect, test } from 'vitest';
import { refusals, sentence } from './refusal.ts';

test('a Portuguese sentence has Portuguese words for types and states, with the names that the API has for them', () => {
  expect(sentence('INVALID_STATE', 'pt', { status: 'PAID' })).toBe(
    'O documento está no estado pago (PAID), no qual isto não é possível. Só um rascunho pode ser alterado, emitido ou eliminado, e só um documento emitido pode ser pago, corrigido ou anulado.',
  );
  expect(sentence('NOT_CREDITABLE', 'pt', { type: 'SIMPLIFIED_INVOICE', status: 'CANCELED' })).toBe(
    'Um documento do tipo fatura simplificada (SIMPLIFIED_INVOICE) no estado anulado (CANCELED) não pode ser corrigido por uma nota de crédito ou de débito. Indique uma fatura emitida e não anulada.',
  );
  expect(sentence('NOT_CREDITABLE', 'en', { type: 'RECEIPT', status: 'DRAFT' })).toBe(
    'A document of type RECEIPT in state DRAFT cannot be corrected by a credit or debit note. Name an issued invoice that is not cancelled.',
  );
});

test('figures are grouped, with the decimal mark of the language', () => {
  const outstanding = { outstanding: '7580.75', currency: 'EUR' };
  expect(sentence('AMOUNT_EXCEEDS_OUTSTANDING', 'pt', outstanding)).toBe(
    'O valor excede os 7 580,75 EUR ainda em dívida. Indique no máximo esse valor, ou omita-o para liquidar tudo.',
  );
  expect(sentence('AMOUNT_EXCEEDS_OUTSTANDING', 'en', outstanding)).toBe(
    'The amount is more than the 7 580.75 EUR still outstanding. Give at most that, or leave it out to settle all of it.',
  );
  expect(sentence('SIMPLIFIED_LIMIT', 'pt', { limit: '1000', total: '79950.00' })).toBe(
    'Uma fatura simplificada deste tipo está limitada a 1 000 EUR; esta é de 79 950,00 EUR. Use INVOICE ou, se está paga, INVOICE_RECEIPT.',
  );
  expect(sentence('TOO_LARGE', 'pt', { limit: '≤ 999999999.999999' })).toMatch(/≤ 999 999 999,999999\.$/);
  expect(sentence('QUANTITY_EXCEEDS_OPEN', 'pt', { open: '0.5' })).toContain(': 0,5. ');
  expect(sentence('TOO_LONG', 'en', { limit: 200 })).toBe('At most 200 characters.');
});

test('nouns are declined by their figure', () => {
  expect(sentence('TOO_SHORT', 'pt', { limit: 1 })).toBe('No mínimo 1 carácter.');
  expect(sentence('TOO_SHORT', 'pt', { limit: 2 })).toBe('No mínimo 2 caracteres.');
  expect(sentence('TOO_SHORT', 'en', { limit: 1 })).toBe('At least 1 character.');
  expect(sentence('TOO_FEW', 'pt', { limit: 1 })).toBe('No mínimo 1 entrada.');
  expect(sentence('INVALID_REQUEST', 'en', { count: 1 })).toMatch(/^The request has 1 problem: /);
  expect(sentence('INVALID_REQUEST', 'pt', { count: '50+' })).toMatch(/^O pedido tem 50\+ problemas: /);
});

test('what is open of a line is told in words that fit several, a part and nothing', () => {
  for (const open of ['3', '0.5', '0']) {
    const told = open.replace('.', ',');
    expect(sentence('QUANTITY_EXCEEDS_OPEN', 'en', { open })).toBe(
      `Still open of this line: ${open}. Give at most that quantity, or leave the line out when it is 0.`,
    );
    // Not "só resta 3": the verb would follow the figure.
    expect(sentence('QUANTITY_EXCEEDS_OPEN', 'pt', { open })).toBe(
      `Quantidade ainda em aberto nesta linha: ${told}. Indique no máximo essa quantidade, ou omita a linha se for 0.`,
    );
  }
});

test('Portuguese as it is spoken: nothing is "tal", and nothing is left undeclined', () => {
  for (const { pt } of Object.values(refusals)) expect(pt).not.toMatch(/(Não existe|não tem) tal |\((s|es)\)/);
});

test('what a request names and is not there, or is not taken, is told with what to do, in both languages', () => {
  for (const [code, { en, pt }] of Object.entries(refusals)) {
    if (!/^(UNKNOWN|DUPLICATE|RECOVERED)_|EXCEEDS|EXCEEDED/.test(code)) continue;
    expect([code, en]).toEqual([code, expect.stringMatching(/\. [A-Z]|[:;] [a-z]/)]);
    expect([code, pt]).toEqual([code, expect.stringMatching(/\. [A-Z]|[:;] [a-z]/)]);
  }
});

test('what has no such word stands as it is', () => {
  expect(sentence('INVALID_STATE', 'pt', { status: 'toString' })).toContain('estado toString,');
  expect(sentence('NOT_CREDITABLE', 'pt', { type: 'FT', status: '$&' })).toContain('tipo FT no estado $& não');
  expect(sentence('INVALID_STATE', 'pt')).toContain('estado {status},');
});
