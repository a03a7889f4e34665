import { expect, test } from 'vitest';
import { Lanes } from './lanes.ts';

interface Member {
  readonly fails: boolean;
  readonly resolve: (with_: number) => void;
  readonly reject: (error: unknown) => void;
}

test('a group that fails as a whole rejects its members, and those behind it have their turn', async () => {
  const groups: number[] = [];
  const lanes = new Lanes<Member>({
    together: 2,
    onTheirWay: 1,
    run: async (members) => {
      groups.push(members.length);
      if (members.some(({ fails }) => fails)) throw new Error('they cannot travel together');
      for (const { resolve } of members) resolve(members.length);
      return [];
    },
  });
  const asked = [true, false, false, false, false].map(
    (fails) => new Promise<number>((resolve, reject) => lanes.add('one', { fails, resolve, reject })),
  );
  const settled = await Promise.allSettled(asked);
  expect(settled.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)))).toEqual([
    'Error: they cannot travel together',
    'Error: they cannot travel together',
    2,
    2,
    1,
  ]);
  expect(groups).toEqual([2, 2, 1]);
});

test('behind a group of which most come again the next are few, and more again when all of one were done', async () => {
  let room = 2;
  const groups: number[] = [];
  const lanes = new Lanes<Member>({
    together: 16,
    onTheirWay: 1,
    run: async (members) => {
      groups.push(members.length);
      for (const { resolve } of members.slice(0, room)) resolve(members.length);
      const again = members.slice(room);
      if (groups.length === 3) room = 16;
      return again;
    },
  });
  const asked = Array.from(
    { length: 40 },
    () => new Promise<number>((resolve, reject) => lanes.add('one', { fails: false, resolve, reject })),
  );
  await Promise.all(asked);
  expect(groups).toEqual([16, 4, 4, 4, 8, 16, 6]);
});

test('who comes again goes before those who came behind', async () => {
  const went: string[] = [];
  let turnedAway = ['b', 'c'];
  const lanes = new Lanes<Member & { readonly name: string }>({
    together: 3,
    onTheirWay: 1,
    run: async (members) => {
      const again = members.filter(({ name }) => turnedAway.includes(name));
      turnedAway = [];
      for (const member of members) {
        if (again.includes(member)) continue;
        went.push(member.name);
        member.resolve(members.length);
      }
      return again;
    },
  });
  const asked = ['a', 'b', 'c', 'd', 'e'].map(
    (name) => new Promise<number>((resolve, reject) => lanes.add('one', { name, fails: false, resolve, reject })),
  );
  await Promise.all(asked);
  expect(went).toEqual(['a', 'b', 'c', 'd', 'e']);
});
