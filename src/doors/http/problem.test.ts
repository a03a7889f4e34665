import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal, type RefusalCode, refusals } from '../../fiscal/refusal.ts';
import { languageOf, problemBody } from './problem.ts';

test.each([
  [undefined, 'en'],
  ['', 'en'],
  ['pt', 'pt'],
  ['pt-PT', 'pt'],
  ['PT-pt', 'pt'],
  ['pt-BR', 'pt'],
  ['en', 'en'],
  ['en-GB,pt;q=0.9', 'en'],
  ['pt;q=0.9,en;q=0.8', 'pt'],
  ['en;q=0.8,pt;q=0.9', 'pt'],
  ['en,pt', 'en'],
  ['pt,en', 'pt'],
  ['pt;q=0,en;q=0.1', 'en'],
  ['pt;q=0', 'en'],
  ['de,fr;q=0.9', 'en'],
  ['de,pt;q=0.3', 'pt'],
  ['*', 'en'],
  ['pl', 'en'],
  ['pl,pt;q=0.3', 'pt'],
  ['et,pt;q=0.3', 'pt'],
  ['pt ; q=0.5 , en ; q=0.4', 'pt'],
  ['pt;q=1.000,en', 'pt'],
  [',,;;q=,pt;q=x', 'pt'],
])('Accept-Language %s is answered in %s', (header, language) => {
  expect(languageOf(header)).toBe(language);
});

test('any header has a language', () => {
  fc.assert(
    fc.property(fc.string(), (header) => {
      expect(['en', 'pt']).toContain(languageOf(header));
    }),
  );
});

const at = { requestId: 'r1', instance: '/x', baseUrl: 'http://certo.test' } as const;

test('every refusal has a body in both languages', () => {
  for (const code of Object.keys(refusals) as RefusalCode[]) {
    for (const language of ['en', 'pt'] as const) {
      const body = problemBody(new Refusal(code), { ...at, language });
      const { status } = refusals[code];
      expect(body).toMatchObject({ code, status, statusCode: status, type: `http://certo.test/docs/errors#${code}` });
      expect(body['title']).toMatch(/\S/);
      expect(body['message']).toBe(body['detail']);
    }
  }
});

test('facts, members and problems are told; of the problems at most fifty', () => {
  const problems = Array.from({ length: 60 }, (_, i) => ({
    code: 'TOO_LONG' as const,
    pointer: `/items/${i}/name`,
    facts: { limit: 200 },
  }));
  const refusal = new Refusal('INVALID_REQUEST', { count: 60 }, { problems, members: { currentUpdatedAt: 'now' } });
  const body = problemBody(refusal, { ...at, language: 'pt' });
  expect(body['detail']).toMatch(/^O pedido tem 60 problema/);
  expect(body['errors']).toHaveLength(50);
  expect((body['errors'] as unknown[])[0]).toEqual({
    pointer: '/items/0/name',
    code: 'TOO_LONG',
    message: 'No máximo 200 caracteres.',
  });
  expect(body['currentUpdatedAt']).toBe('now');
  expect(problemBody(new Refusal('UNAUTHENTICATED'), { ...at, language: 'en' })).not.toHaveProperty('errors');
});

test('a fact that is words is told in the language of the answer', () => {
  const refusal = new Refusal('IDEMPOTENCY_CONFLICT', { sentence: { en: 'Wait.', pt: 'Aguarde.' } });
  const details = (['en', 'pt'] as const).map((language) => problemBody(refusal, { ...at, language })['detail']);
  expect(details).toEqual(['Wait.', 'Aguarde.']);
});

test('a fact cannot bring another one in', () => {
  const refusal = new Refusal('AT_REFUSED', { message: '{code} $& $1', code: '-1' });
  const body = problemBody(refusal, { ...at, language: 'en' });
  expect(body['detail']).toBe('The tax authority refused: {code} $& $1 (code -1).');
});

test('of a long path its beginning is told, and no half of a sign', () => {
  const told = (instance: string) =>
    problemBody(new Refusal('ROUTE_NOT_FOUND'), { ...at, instance, language: 'en' })['instance'];
  expect(told('/'.repeat(300))).toBe('/'.repeat(300));
  expect(told('/'.repeat(8_000))).toBe('/'.repeat(300));
  for (const before of [297, 298, 299])
    expect(told(`${'/'.repeat(before)}%41/`)).toBe('/'.repeat(before) + (before === 297 ? '%41' : ''));
});
