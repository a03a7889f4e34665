import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinCalls } from './joined.ts';
import {
  type Call,
  callFor,
  Elements,
  elementsOf,
  inOrderOfIds,
  listStatement,
  type Row,
  statement,
  WrittenElement,
} from './statement.ts';
import { encodeAll } from './wire-types.ts';

const plain = statement('joined plain', 'select $1::int');
const first = listStatement('joined first', 'select 1');
const second = listStatement('joined second', 'select 2');
const oneByOne = listStatement('joined one by one', 'select 3', { joins: (all) => all.map((element) => [element]) });
const inOrder = listStatement('joined in order', 'select 5', { joins: inOrderOfIds });
const one = (id: string): Elements => new Elements([{ id, n: 1 }]);

test('calls of one statement for lists become one, with the elements in the order of the members', () => {
  const { calls } = joinCalls([[[first, [one('a')]]], [[first, [one('b')]]]]);
  expect(calls.map(([{ name }]) => name)).toEqual(['joined first']);
  expect(elementsOf(calls[0]!).map((element) => (element as { id: string }).id)).toEqual(['a', 'b']);
});

test('rows that several members write are named in the order of their ids, as who locks several of them does', () => {
  const written = (id: string) => new Elements([new WrittenElement(id, '"n":1')]);
  const { calls } = joinCalls([[[inOrder, [one('b')]]], [[inOrder, [written('C')]]], [[inOrder, [one('a')]]]]);
  expect(elementsOf(calls[0]!).map((element) => (element as { id: string }).id)).toEqual(['a', 'b', 'C']);
});

test('what a member asked before a joined statement runs before it, whoever asked that first', () => {
  const { calls } = joinCalls([
    [[second, [one('a')]]],
    [
      [first, [one('b')]],
      [plain, [1]],
      [second, [one('b')]],
    ],
  ]);
  expect(calls.map(([{ name }]) => name)).toEqual(['joined first', 'joined plain', 'joined second']);
});

test('what is asked for nobody is not asked, and answered with no rows', () => {
  const ids = listStatement('joined ids', 'select 4');
  const { calls, spread } = joinCalls([
    [
      [first, [one('a')]],
      [ids, [[]]],
    ],
    [
      [first, [one('b')]],
      [ids, [[]]],
    ],
  ]);
  expect(calls.map(([{ name }]) => name)).toEqual(['joined first']);
  expect(spread([[{ id: 'b' }, { id: 'a' }]])).toEqual([[{ id: 'a' }], [], [{ id: 'b' }], []]);
});

test('two that ask in opposite order are not joined', () => {
  const asked: Call[][] = [
    [
      [first, [one('a')]],
      [second, [one('a')]],
    ],
    [
      [second, [one('b')]],
      [first, [one('b')]],
    ],
  ];
  expect(joinCalls(asked).calls).toEqual(asked.flat());
});

test('what is last runs once for all members, behind everything else, and all of them get its rows', () => {
  const moment = statement('joined moment', 'select now()', 'last');
  const joined = joinCalls([
    [
      [first, [one('a')]],
      [moment, []],
      [plain, [1]],
    ],
    [
      [moment, []],
      [first, [one('b')]],
    ],
  ]);
  expect(joined.calls.map(([{ name }]) => name)).toEqual(['joined first', 'joined plain', 'joined moment']);
  const [a, b, p, m] = [[{ id: 'a' }], [{ id: 'b' }], [{ p: 1 }], [{ m: 1 }]];
  expect(joined.spread([[...a, ...b], p, m])).toEqual([a, m, p, m, b]);
});

test('a statement says how its elements are split; ids are compared as the server writes them', () => {
  const joined = joinCalls([[[oneByOne, [['A']]]], [[oneByOne, [['b']]]]]);
  expect(joined.calls.map(([, [list]]) => list)).toEqual([['A'], ['b']]);
  expect(joined.spread([[{ id: 'a' }], [{ id: 'b' }]])).toEqual([[{ id: 'a' }], [{ id: 'b' }]]);
});

/** Of jsonb as it is sent: behind the version of the form. */
function textOf(jsonb: unknown): string {
  const bytes = jsonb as Buffer;
  expect(bytes[0]).toBe(1);
  return bytes.toString('utf8', 1);
}

test('of a statement that names its columns each element is a call, with its columns as parameters', () => {
  const columns = ['id', 'n', 'seal', 'at', 'none'];
  const each = listStatement('joined columns', 'select 6', { joins: (all) => all.map((one) => [one]), columns });
  const seal = Buffer.from('00ff', 'hex');
  const call = (id: string, n: unknown) => callFor(each, [{ none: null, n, id, seal, at: new Date(0) }]);
  const { calls, spread } = joinCalls([[call('a', 1)], [call('b', () => 2)]]);
  const at = '1970-01-01T00:00:00.000Z';
  expect(calls.map(([{ name }, values]) => [name, encodeAll(values)])).toEqual([
    ['joined columns', ['a', '1', seal, at, null]],
    ['joined columns', ['b', '2', seal, at, null]],
  ]);
  expect(spread([[{ id: 'a' }], [{ id: 'b' }]])).toEqual([[{ id: 'a' }], [{ id: 'b' }]]);
  expect(encodeAll(call('c', 3)[1])).toEqual(['c', '3', seal, at, null]);
  const together = listStatement('joined columns, together', 'select 7', { columns });
  const two = ['a', 'b'].map((id) => [callFor(together, [{ id }])]);
  expect(() => joinCalls(two)).toThrow('one element at a time');
});

test('bytes go as the input of bytea reads them, dates as text', () => {
  const values = {
    id: 'a"',
    seal: Buffer.from('00ff', 'hex'),
    at: new Date(0),
    none: null,
    absent: undefined,
    of: [{}],
  };
  expect(JSON.parse(textOf(new Elements([values]).jsonb()))).toEqual([
    { id: 'a"', seal: '\\x00ff', at: '1970-01-01T00:00:00.000Z', none: null, of: [{}] },
  ]);
});

test('a value that is a function is asked when its element is sent; what is written goes as it is', () => {
  let asked = 0;
  const list = [{ id: 'a', seal: () => Buffer.of(++asked) }, new WrittenElement('b', '"n": 1,"of":[]')];
  const { calls } = joinCalls(list.map((element) => [[first, [new Elements([element])]]]));
  expect([calls.length, asked]).toEqual([1, 0]);
  expect(textOf(encodeAll(calls[0]![1])[0])).toBe('[{"id":"a","seal":"\\\\x01"},{"id":"b","n": 1,"of":[]}]');
});

/** A server that answers each element with its id, the statement's name and when it ran. */
function answer(calls: readonly Call[]): Row[][] {
  return calls.map((call, at) =>
    call[0].list === undefined
      ? [{ name: call[0].name, value: call[1][0], at }]
      : elementsOf(call).map((element) => ({ id: (element as { id: string }).id, name: call[0].name, at })),
  );
}

test('each call gets its own rows and no others, after everything its member asked before', () => {
  const statements = [plain, first, second, oneByOne];
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat(3), { maxLength: 5 }), { maxLength: 6 }), (members) => {
      let n = 0;
      const asked = members.map((kinds) =>
        kinds.map((kind): Call => {
          const value = `id-${n++}`;
          return kind === 0 ? [plain, [value]] : [statements[kind]!, [one(value)]];
        }),
      );
      const joined = joinCalls(asked);
      const rows = joined.spread(answer(joined.calls));
      let next = 0;
      for (const calls of asked) {
        let before = -1;
        for (const call of calls) {
          const [row, ...more] = rows[next++]!;
          expect(more).toEqual([]);
          expect(row!['name']).toBe(call[0].name);
          const value = call[0].list === undefined ? call[1][0] : (elementsOf(call)[0] as { id: string }).id;
          expect(row!['id'] ?? row!['value']).toBe(value);
          expect(row!['at']).toBeGreaterThanOrEqual(before);
          before = row!['at'] as number;
        }
      }
    }),
  );
});
