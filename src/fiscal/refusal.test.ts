import { expect, test } from 'vitest';
import { sentence } from './refusal.ts';

test('a Portuguese sentence has Portuguese words for types and states, with the names that the API has for them', () => {
  expect(sentence('INVALID_STATE', 'pt', { status: 'PAID' })).toBe(
    'O documento está no estado pago (PAID), no qual isto não é possível.',
  );
  expect(sentence('NOT_CREDITABLE', 'pt', { type: 'SIMPLIFIED_INVOICE', status: 'CANCELED' })).toBe(
    'Um documento do tipo fatura simplificada (SIMPLIFIED_INVOICE) no estado anulado (CANCELED) não pode ser creditado. Credite uma fatura emitida e não anulada.',
  );
  expect(sentence('NOT_CREDITABLE', 'en', { type: 'RECEIPT', status: 'DRAFT' })).toBe(
    'A document of type RECEIPT in state DRAFT cannot be credited. Credit an issued invoice that is not cancelled.',
  );
});

test('what has no such word stands as it is', () => {
  expect(sentence('INVALID_STATE', 'pt', { status: 'toString' })).toContain('estado toString,');
  expect(sentence('NOT_CREDITABLE', 'pt', { type: 'FT', status: '$&' })).toContain('tipo FT no estado $& não');
  expect(sentence('INVALID_STATE', 'pt')).toContain('estado {status},');
});
