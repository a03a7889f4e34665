import { expect, test } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { Rounds } from './rounds.ts';

interface Played {
  readonly rounds: Rounds;
  readonly began: string[];
  readonly failures: string[];
  end(companyId: string, how?: boolean | Error): void;
}

function played(due: () => string[], atOnce = 2): Played {
  const began: string[] = [];
  const failures: string[] = [];
  const ends = new Map<string, (how: boolean | Error) => void>();
  const rounds = new Rounds({
    atOnce,
    due: async () => due(),
    async work(companyId) {
      began.push(companyId);
      const how = await new Promise<boolean | Error>((resolve) => ends.set(companyId, resolve));
      if (how instanceof Error) throw how;
      return how;
    },
    failed: (error, companyId) => void failures.push(`${companyId}: ${(error as Error).message}`),
    pause: () => 0,
  });
  return { rounds, began, failures, end: (companyId, how = false) => ends.get(companyId)!(how) };
}

const comes = (began: readonly string[], ...expected: string[]) => eventually(() => expect(began).toEqual(expected));

test('so many are at work at once, and one that is slow holds up none of the others', async () => {
  const { rounds, began, end } = played(() => ['slow', 'a', 'b', 'c']);
  rounds.look();
  await comes(began, 'slow', 'a');
  end('a');
  await comes(began, 'slow', 'a', 'b');
  end('b');
  await comes(began, 'slow', 'a', 'b', 'c');
  end('c');
  end('slow');
  await rounds.stop();
});

test('who is not done comes behind those who wait', async () => {
  const { rounds, began, end } = played(() => ['a', 'b'], 1);
  rounds.look();
  await comes(began, 'a');
  end('a', true);
  await comes(began, 'a', 'b');
  end('b');
  await comes(began, 'a', 'b', 'a');
  end('a');
  await rounds.stop();
});

test('what is found for one at work is done after it', async () => {
  let due = ['a'];
  const { rounds, began, end } = played(() => due.splice(0));
  rounds.look();
  await comes(began, 'a');
  due = ['a'];
  rounds.look();
  await eventually(() => expect(due).toEqual([]));
  expect(began).toEqual(['a']);
  end('a');
  await comes(began, 'a', 'a');
  end('a');
  // Once: it was found once.
  due = ['b'];
  rounds.look();
  await comes(began, 'a', 'a', 'b');
  end('b');
  await rounds.stop();
  expect(began).toEqual(['a', 'a', 'b']);
});

test('one that fails is told and waits for the next look; the others go on', async () => {
  const due = ['bad', 'b', 'c'];
  const { rounds, began, failures, end } = played(() => due.splice(0));
  rounds.look();
  await comes(began, 'bad', 'b');
  end('bad', new Error('no'));
  await comes(began, 'bad', 'b', 'c');
  expect(failures).toEqual(['bad: no']);
  end('b');
  end('c');
  await rounds.stop();
  expect(began).toHaveLength(3);
});

test('it stops after what is at work, and begins nothing more', async () => {
  const { rounds, began, end } = played(() => ['a', 'b'], 1);
  rounds.look();
  await comes(began, 'a');
  let stopped = false;
  const stopping = rounds.stop().then(() => {
    stopped = true;
  });
  await new Promise(setImmediate);
  expect(stopped).toBe(false);
  end('a', true);
  await stopping;
  rounds.look();
  await new Promise(setImmediate);
  expect(began).toEqual(['a']);
});
