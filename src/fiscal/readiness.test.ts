import { expect, test } from 'vitest';
import { type ReadinessFacts, readiness } from './readiness.ts';

const ready: ReadinessFacts = { credentials: 'ok', synced: true, seriesDiffer: false, activeInvoiceSeries: true };
const codes = (over: Partial<ReadinessFacts>) =>
  readiness({ ...ready, ...over }, 'http://localhost:3000').map((reason) => reason.code);

test('what keeps a company from issuing', () => {
  expect(codes({})).toEqual([]);
  expect(codes({ credentials: 'wrong' })).toEqual(['AT_CREDENTIALS_REQUIRED']);
  expect(codes({ credentials: 'none', synced: false })).toEqual(['AT_CREDENTIALS_REQUIRED', 'AT_SYNC_REQUIRED']);
  expect(codes({ credentials: 'none' })).toEqual(['AT_CREDENTIALS_REQUIRED', 'AT_SYNC_REQUIRED']);
  expect(codes({ synced: false })).toEqual(['AT_SYNC_REQUIRED']);
  expect(codes({ seriesDiffer: true })).toEqual(['AT_SYNC_REQUIRED']);
  expect(codes({ activeInvoiceSeries: false })).toEqual(['SERIES_REQUIRED']);
});

test('each reason leads to its place on the page that says what fixes it', () => {
  const all = { credentials: 'none', synced: false, seriesDiffer: false, activeInvoiceSeries: false } as const;
  const urls = readiness(all, 'https://certo.example/').map((reason) => reason.actionUrl);
  expect(urls).toHaveLength(3);
  for (const url of urls) expect(new URL(url).href).toMatch(/^https:\/\/certo\.example\/docs\/readiness#[A-Z_]+$/);
});
