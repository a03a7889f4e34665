import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { exemptionCodesOn, exemptionOn, exemptions } from './exemptions.ts';

/** The AT's table, version 4.0: what is printed and told letter for letter, and from when to when. */
const table: { code: string; mention: string; saftReason: string; from: string; to?: string }[] = JSON.parse(
  readFileSync(new URL('./fixtures/exemption-codes.json', import.meta.url), 'utf8'),
);

test('33 codes, each once, each fit for SAF-T', () => {
  expect(new Set(exemptions.map((exemption) => exemption.code)).size).toBe(33);
  expect(exemptions).toHaveLength(33);
  for (const { code, saftReason, mention, norm } of exemptions) {
    expect(code).toMatch(/^M\d\d$/);
    expect(saftReason.length).toBeGreaterThanOrEqual(6);
    expect(saftReason.length).toBeLessThanOrEqual(60);
    if (code !== 'M15') expect(saftReason).toBe(mention);
    expect(norm).toMatch(/\d.* do (?:CIVA|RITI)|Lei n\.º \d+|determinadas em diploma próprio$/);
  }
});

test('each as the table has it', () => {
  expect(exemptions.map(({ norm, ...exemption }) => exemption)).toEqual(table);
});

test('mentions letter for letter', () => {
  expect(exemptionOn('M07', '2026-03-02')?.mention).toBe('Isento artigo 9.º do CIVA');
  expect(exemptionOn('M16', '2026-03-02')?.mention).toBe('Isento artigo 14.º do RITI');
  expect(exemptionOn('M44', '2026-03-02')?.mention).toBe('IVA - Regras específicas - artigo 6.º');
  expect(exemptionOn('M15', '2026-03-02')?.mention).toHaveLength(61);
  const reverse = exemptions.filter((exemption) => exemption.mention === 'IVA - autoliquidação').map((e) => e.code);
  expect(reverse).toEqual(['M30', 'M31', 'M32', 'M33', 'M34', 'M35', 'M40', 'M41', 'M42', 'M43']);
});

test('codes count only while in force', () => {
  // Day before the first one, and first one: of the table of July 2022 but for those that came later.
  const later: Readonly<Record<string, readonly [string, string]>> = {
    M26: ['2023-04-17', '2023-04-18'],
    M34: ['2023-04-13', '2023-04-14'],
    M35: ['2026-06-30', '2026-07-01'],
    M44: ['2025-08-13', '2025-08-14'],
    M45: ['2025-08-13', '2025-08-14'],
    M46: ['2025-08-13', '2025-08-14'],
  };
  for (const { code } of exemptions) {
    const [before, first] = later[code] ?? ['2022-06-30', '2022-07-01'];
    expect([code, exemptionOn(code, before)]).toEqual([code, undefined]);
    expect([code, exemptionOn(code, first)?.code]).toEqual([code, code]);
    if (code !== 'M26') expect([code, exemptionOn(code, '2099-12-31')?.code]).toEqual([code, code]);
  }
  expect(exemptionOn('M26', '2024-01-04')).toBeDefined();
  expect(exemptionOn('M26', '2024-01-05')).toBeUndefined();
});

test('removed and unknown codes', () => {
  for (const code of ['M03', 'M08', 'M00', 'm07', '', 'constructor', 'M07 ']) {
    expect(exemptionOn(code, '2026-03-02'), code).toBeUndefined();
  }
});

test('who is told that a code is not in force is told those that are', () => {
  expect(exemptionCodesOn('2024-01-04').en).toMatch(/^M01, M02, .*, M26, .*, M43, M99$/);
  expect(exemptionCodesOn('2024-01-05').pt).not.toContain('M26');
  expect(exemptionCodesOn('2022-06-30')).toEqual({ en: 'none', pt: 'nenhum' });
});
