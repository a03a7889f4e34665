import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesOf } from '../../test/pieces.ts';
import { utf8 } from '../fiscal/utf8.ts';
import { fold, foldNames, UnfoldedNames, unfold } from './folded.ts';
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
    const name = fc.constantFrom(
      'unitDiscountPercent',
      'discountAmount',
      'description',
      'total',
      'data',
      'meta',
      'ÿ"',
      'id',
      'date',
      'name',
    );
    const value = fc.oneof(fc.constant(0), fc.constant('"taxRate":'), fc.jsonValue(), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(fc.array(fc.dictionary(name, value)), fc.boolean(), (items, pictured) => {
        const body = JSON.stringify({ items, qrCode: pictured ? qrCode('A:1') : undefined });
        const recorded = Buffer.from(foldNames(fold(utf8(body))), 'latin1').toString();
        expect(recorded.length).toBeLessThanOrEqual(body.length);
        expect(recorded).not.toContain('\n');
        expect(unfold(recorded)).toBe(body);
        // As bytes, too, where there is no picture to be drawn.
        const whole = new UnfoldedNames(Buffer.from(foldNames(utf8(body)), 'latin1'), Buffer.byteLength(body));
        expect(bytesOf([whole]).toString()).toBe(body);
      }),
    );
  });

  test('have what is in them once as two characters', () => {
    const names = ['atcud', 'number', 'signature', 'issuedAt', 'dueDate', 'parentInvoiceId', 'x'];
    const value = fc.oneof(fc.constantFrom(null, '2026-01-01T00:00:00.000+00:00', 'x","value":"'), fc.string());
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), (stamp) => {
        const body = JSON.stringify(stamp);
        expect(unfold(Buffer.from(foldNames(utf8(body)), 'latin1').toString())).toBe(body);
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
    const less = Array.from({ length: 22 }, (_, i) => `\x1f${String.fromCharCode(0x41 + i)}`).join('|');
    expect(unfold(less)).toMatchInlineSnapshot(
      `"{"id":"|","number":"|","atcud":"|","shortHash":"|","signature":{"text":"|","value":"|","keyVersion":|},"documentType":"|","status":"|","updatedAt":"|","date":"|T00:00:00.000|,"taxPointDate":null,"dueDate":"|,"taxPointDate":|,"dueDate":|,"createdAt":"|","issuedAt":"|","parentInvoiceId":null,"parentInvoiceNumber":null,"parentInvoiceDate":null,"parentInvoiceType":null,"syncWithAt":{"status":"|"},"series":{"ref":"|","name":"|"qrCode":{"url":"|","data":""`,
    );
    expect(foldNames(utf8(unfold(less)))).toBe(less);
    expect(unfold('"data":"A:1\x1fW')).toBe(`"data":"A:1","imageData":"${qrDataUri('A:1')}"},`);
  });
});
