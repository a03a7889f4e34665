import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { utf8 } from '../fiscal/utf8.ts';
import { fold, unfold } from './folded.ts';
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
});
