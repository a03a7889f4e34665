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

/** No schema has as many. */
const most_names = 1_000;

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
  for (let place = 0; place < kept.length; place += 1) {
    const fit = fitted(items, kept[place], left);
    if (fit === kept[place]) continue;
    copy ??= [...kept];
    copy[place] = fit;
  }
  return copy ?? value;
}

function fittedObject(room: Room, known: Readonly<Record<string, Room>>, value: object, left: Left): unknown {
  const members = value as Readonly<Record<string, unknown>>;
  const names = namesOf(members, known);
  // Made at the first member that does not fit: most values fit.
  let copy: [string, unknown][] | undefined;
  const before = (at: number): [string, unknown][] => names.slice(0, at).map((name) => [name, members[name]]);
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at]!;
    const its = Object.hasOwn(known, name) ? known[name]! : undefined;
    if (its === undefined && room.additionalProperties === false) {
      left.unknown -= 1;
      if (left.unknown < 0) {
        copy ??= before(at);
        continue;
      }
    }
    const fit = its === undefined ? members[name] : fitted(its, members[name], left);
    if (fit !== members[name]) copy ??= before(at);
    copy?.push([name, fit]);
  }
  return copy === undefined ? value : Object.fromEntries(copy);
}

/** Of an object with very many members those that are looked at: the first ones, and all that are known. */
function namesOf(members: object, known: object): string[] {
  const names = Object.keys(members);
  if (names.length <= most_names) return names;
  const first = names.slice(0, most_names);
  return [...new Set([...first, ...Object.keys(known).filter((name) => Object.hasOwn(members, name))])];
}
