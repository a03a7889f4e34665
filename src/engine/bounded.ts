/** What a body holds beyond the room of its schema is taken off before anything looks at its members one by one. */
import type { TSchema } from 'typebox';
import { most_problems } from '../fiscal/refusal.ts';

/** The members of JSON Schema that say how much there may be. */
interface Room {
  readonly properties?: Readonly<Record<string, Room>>;
  readonly additionalProperties?: boolean;
  readonly items?: Room;
  readonly maxItems?: number;
}

/** Unknown members that may still be kept, of the whole body. */
interface Left {
  unknown: number;
}

/**
 * The same value where it fits. Else a copy that is refused by the schema as well: arrays have one member more than they
 * may, and of unknown members there is one more than problems are told.
 */
export function bounded(schema: TSchema | undefined, value: unknown): unknown {
  return schema === undefined ? value : fitted(schema as Room, value, { unknown: most_problems + 1 });
}

function fitted(room: Room, value: unknown, left: Left): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return room.items === undefined ? value : fittedArray(room, room.items, value, left);
  return room.properties === undefined ? value : fittedObject(room, room.properties, value, left);
}

function fittedArray({ maxItems }: Room, items: Room, value: readonly unknown[], left: Left): unknown {
  const kept = maxItems === undefined || value.length <= maxItems ? value : value.slice(0, maxItems + 1);
  let copy = kept === value ? undefined : [...kept];
  for (const [place, member] of kept.entries()) {
    const fit = fitted(items, member, left);
    if (fit === member) continue;
    copy ??= [...kept];
    copy[place] = fit;
  }
  return copy ?? value;
}

function fittedObject(room: Room, known: Readonly<Record<string, Room>>, value: object, left: Left): unknown {
  const entries: [string, unknown][] = [];
  let isWhole = true;
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    const member = (value as Record<string, unknown>)[name];
    const its = Object.hasOwn(known, name) ? known[name]! : undefined;
    if (its === undefined && room.additionalProperties === false) {
      left.unknown -= 1;
      if (left.unknown < 0) {
        isWhole = false;
        continue;
      }
    }
    const fit = its === undefined ? member : fitted(its, member, left);
    if (fit !== member) isWhole = false;
    entries.push([name, fit]);
  }
  return isWhole ? value : Object.fromEntries(entries);
}
