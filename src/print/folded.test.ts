import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { utf8 } from '../fiscal/utf8.ts';
import { fold, foldNames, unfold } from './folded.ts';
import { qrDataUri } from './qr.ts';

const qrCode = (data: string) => ({ url: 'http://x/y', data, imageData: qrDataUri(data) });

describe('recorded answers', () => {
  test('have no pictures, and are replayed with the same bytes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 300 }), { maxLength: 3 }),
        fc.jsonValue(),
        (messages, rest) => {
          const body = JSON.stringify({ notes: '"imageData":"qr:1"', rest, all: messages.map(qrCode), behind: rest });
          const recorded = Buffer.from(fold(utf8(body)), 'latin1').toString();
          expect(recorded).not.toContain('data:image/svg+xml,%3C');
          expect(unfold(recorded)).toBe(body);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('without pictures stand as they are', () => {
    const body = JSON.stringify({ notes: '"imageData":"data:image/svg+xml,x"', data: 'x' });
    expect(fold(utf8(body))).toBe(body);
    expect(unfold(body)).toBe(body);
  });

  test('have what is frequent as one character, and are replayed with the same bytes', () => {
    const name = fc.constantFrom('unitDiscountPercent', 'discountAmount', 'description', 'total', 'data', 'meta', 'ÿ"');
    const value = fc.oneof(fc.constant(0), fc.constant('"taxRate":'), fc.jsonValue(), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(fc.array(fc.dictionary(name, value)), fc.boolean(), (items, pictured) => {
        const body = JSON.stringify({ items, qrCode: pictured ? qrCode('A:1') : undefined });
        const recorded = Buffer.from(foldNames(fold(utf8(body))), 'latin1').toString();
        expect(recorded.length).toBeLessThanOrEqual(body.length);
        expect(recorded).not.toContain('\n');
        expect(unfold(recorded)).toBe(body);
      }),
    );
  });

  // What was recorded has to be read: a code that means something else would change answers that were given.
  test('have the codes that they had', () => {
    const recorded =
      '{\x01:\x02:\x03:\x04:\x05:\x06:\x07:\x08:\x09:\x0b:\x0c:\x0d:\x0e:\x0f:\x10:\x11:\x12:\x13:\x14:\x15:\x16:\x17:\x18:\x19:\x1a:\x1b:\x1c:\x1d:\x1e';
    expect(unfold(recorded)).toMatchInlineSnapshot(
      `"{"discountAmount":0,"unitItemDiscountPercent":0,"unitItemDiscountAmount":0,"unitDiscountPercent":0,"unitDiscountAmount":0,:"withholdingTaxAmount":0,"withholdingTaxEnabled":false},"data":{"name"::"unitDiscountPercent":0,"unitDiscountAmount":0}:"meta":{"quantity"::"amountWithoutTax"::"amountWithTax"::"taxAmount"::"discountAmount"::"unitItemDiscountPercent"::"unitItemDiscountAmount"::"unitDiscountPercent"::"unitDiscountAmount"::"unitAmountWithoutTax"::"unitAmountWithTax"::"withholdingTaxAmount"::"withholdingTaxEnabled"::"unitPrice"::"vatRate"::"vatExemptionReason"::"taxRate"::"unitType"::"description"::"taxpayerNumber"::"address"::"postalCode"::"amountWithoutTaxWithoutDiscount"::"globalDiscountPercent":0,"globalDiscountAmount":0,"total"::"totalToPay"::"creditNotesTotal":0},"items":["`,
    );
    expect(foldNames(utf8(unfold(recorded)))).toBe(recorded);
  });
});
