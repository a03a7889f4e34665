import { expect, test } from 'vitest';
import { exemptionOn, exemptions } from './exemptions.ts';

test('33 codes, each once, each fit for SAF-T', () => {
  expect(new Set(exemptions.map((exemption) => exemption.code)).size).toBe(33);
  expect(exemptions).toHaveLength(33);
  for (const { code, saftReason, mention, norm } of exemptions) {
    expect(code).toMatch(/^M\d\d$/);
    expect(saftReason.length).toBeGreaterThanOrEqual(6);
    expect(saftReason.length).toBeLessThanOrEqual(60);
    if (code !== 'M15') expect(saftReason).toBe(mention);
    expect(norm).not.toBe('');
  }
});

test('mentions letter for letter', () => {
  expect(exemptionOn('M07', '2026-03-02')?.mention).toBe('Isento artigo 9.º do CIVA');
  expect(exemptionOn('M16', '2026-03-02')?.mention).toBe('Isento artigo 14.º do RITI');
  expect(exemptionOn('M15', '2026-03-02')?.mention).toHaveLength(61);
  const reverse = exemptions.filter((exemption) => exemption.mention === 'IVA - autoliquidação').map((e) => e.code);
  expect(reverse).toEqual(['M30', 'M31', 'M32', 'M33', 'M34', 'M35', 'M40', 'M41', 'M42', 'M43']);
});

test('codes count only while in force', () => {
  expect(exemptionOn('M26', '2024-01-04')).toBeDefined();
  expect(exemptionOn('M26', '2024-01-05')).toBeUndefined();
  expect(exemptionOn('M26', '2023-04-17')).toBeUndefined();
  expect(exemptionOn('M35', '2026-06-30')).toBeUndefined();
  expect(exemptionOn('M35', '2026-07-01')).toBeDefined();
  expect(exemptionOn('M07', '2022-06-30')).toBeUndefined();
});

test('removed and unknown codes', () => {
  for (const code of ['M03', 'M08', 'M00', 'm07', '', 'constructor', 'M07 ']) {
    expect(exemptionOn(code, '2026-03-02'), code).toBeUndefined();
  }
});
