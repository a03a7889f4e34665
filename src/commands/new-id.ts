/** Ids of records and of requests: UUID version 7 (RFC 9562). */
import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';

/** Random words that are drawn at once: eight at a time, as the package does by itself, take three times as long. */
const words = new Uint32Array(1024);
let next = words.length;

const generator = new V7Generator({
  nextUint32() {
    if (next === words.length) {
      randomFillSync(words);
      next = 0;
    }
    const word = words[next]!;
    next += 1;
    return word;
  },
});

/** Later ones are greater, within a process. */
export const newId = (): string => generator.generate().toString();
