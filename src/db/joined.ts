/** Calls of several members that travel together, with those of one statement for lists made one. */
import { type Call, callFor, type Element, elementsOf, idOf, keyOf, type Row, type Statement } from './statement.ts';

export interface Joined {
  readonly calls: readonly Call[];
  /** Of the rows of `calls`, the rows of each call as it was asked: the first member's, then the second's … */
  spread(results: readonly Row[][]): Row[][];
}

/**
 * Each member's calls keep their order: a joined statement comes after everything that any member asked before it. What
 * is `last` runs once for all who ask the same, after everything else.
 */
export function joinCalls(members: readonly (readonly Call[])[]): Joined {
  const asked = members.flat();
  const last = new Map(asked.filter(isLast).map((call) => [keyOf(call), call]));
  if (last.size === 0) return joinOthers(members);
  const others = joinOthers(members.map((calls) => calls.filter((call) => !isLast(call))));
  const places = new Map([...last.keys()].map((key, i) => [key, others.calls.length + i]));
  return {
    calls: [...others.calls, ...last.values()],
    spread(results) {
      const rows = others.spread(results.slice(0, others.calls.length));
      let next = 0;
      return asked.map((call) => (isLast(call) ? results[places.get(keyOf(call))!]! : rows[next++]!));
    },
  };
}

const isLast = ([{ group }]: Call): boolean => group === 'last';

function joinOthers(members: readonly (readonly Call[])[]): Joined {
  const asked = members.flat();
  const elements = elementsByStatement(asked);
  const steps = elements.size < countLists(asked) ? stepsOf(members) : undefined;
  if (steps === undefined) return { calls: asked, spread: (results) => [...results] };

  const calls: Call[] = [];
  const alone = new Map<number, number>();
  const sent = new Map<Statement, number[]>();
  const order = asked.map((_, i) => i).sort((a, b) => steps[a]! - steps[b]! || a - b);
  for (const i of order) {
    const [statement] = asked[i]!;
    if (statement.list === undefined) {
      alone.set(i, calls.push(asked[i]!) - 1);
    } else if (!sent.has(statement)) {
      // Nobody's elements: nothing to ask.
      const lists = statement.list(elements.get(statement)!).filter((list) => list.length > 0);
      sent.set(
        statement,
        lists.map((list) => calls.push(callFor(statement, list)) - 1),
      );
    }
  }
  return {
    calls,
    spread(results) {
      const byId = new Map([...sent].map(([statement, places]) => [statement, rowsById(places, results)]));
      return asked.map((call, i) => {
        const rows = byId.get(call[0]);
        return rows === undefined
          ? results[alone.get(i)!]!
          : elementsOf(call).flatMap((element) => rows.get(idOf(element)) ?? []);
      });
    },
  };
}

function elementsByStatement(calls: readonly Call[]): Map<Statement, Element[]> {
  const found = new Map<Statement, Element[]>();
  for (const call of calls) {
    if (call[0].list === undefined) continue;
    const before = found.get(call[0]);
    if (before === undefined) found.set(call[0], [...elementsOf(call)]);
    else before.push(...elementsOf(call));
  }
  return found;
}

function countLists(calls: readonly Call[]): number {
  return calls.filter(([{ list }]) => list !== undefined).length;
}

/** Two members with two statements in opposite order can't be joined; more rounds than these mean that. */
const most_rounds = 16;

/** When each call runs: after the calls before it, and in the same step as all others of its statement for lists. */
function stepsOf(members: readonly (readonly Call[])[]): number[] | undefined {
  const common = new Map<Statement, number>();
  for (let round = 0; round < most_rounds; round++) {
    let moved = false;
    const steps: number[] = [];
    for (const calls of members) {
      let step = -1;
      for (const [statement] of calls) {
        step += 1;
        if (statement.list !== undefined) {
          const known = common.get(statement) ?? 0;
          moved ||= step > known;
          step = Math.max(step, known);
          common.set(statement, step);
        }
        steps.push(step);
      }
    }
    if (!moved) return steps;
  }
  return undefined;
}

function rowsById(places: readonly number[], results: readonly Row[][]): Map<string, Row[]> {
  const found = new Map<string, Row[]>();
  for (const row of places.flatMap((place) => results[place]!)) {
    const id = String(row['id']);
    const before = found.get(id);
    if (before === undefined) found.set(id, [row]);
    else before.push(row);
  }
  return found;
}
