/**
 * Time for histories that are played side by side: certo.now() is the whole database's, so it moves when all of them wait
 * for it. How far is a matter of the seed alone, so that a history that is played again alone sees the same days.
 */
import type { Chance } from '../chance.ts';
import type { Ground } from '../ground.ts';
import { addDays, type Day } from './world.ts';

const day_ms = 86_400_000;
/** A claim's lease is 90 s. */
const lease_ms = 92_000;
/** Results are forgotten after 30 days. */
const steps = [1, 1, 1, 2, 7, 29, 30, 31] as const;

export interface Hourglass {
  readonly today: Day;
  /** Until the next day of the schedule has come. */
  nextDay(): Promise<Day>;
  /** Until the leases that run now are over. */
  leaseOver(): Promise<Day>;
  /** No more waiting for this history. */
  leave(): void;
}

/** For so many histories; the first day is at noon in every region. */
export async function openHourglass(ground: Ground, chance: Chance, histories: number): Promise<Hourglass> {
  let today = addDays('2025-01-02', chance.whole(0, 700));
  let shift = Date.parse(`${today}T12:00:00Z`) - Date.now();
  let present = histories;
  let waiting: { wantsDay: boolean; resolve: (today: Day) => void }[] = [];
  await ground.shiftClock(shift);

  async function move(): Promise<void> {
    const moved = waiting;
    waiting = [];
    const days = moved.some(({ wantsDay }) => wantsDay) ? chance.one(steps) : 0;
    today = addDays(today, days);
    shift += days === 0 ? lease_ms : days * day_ms;
    await ground.shiftClock(shift);
    for (const { resolve } of moved) resolve(today);
  }
  function turnWhenAllWait(): void {
    if (waiting.length > 0 && waiting.length === present) void move();
  }
  const wait = (wantsDay: boolean): Promise<Day> =>
    new Promise((resolve) => {
      waiting.push({ wantsDay, resolve });
      turnWhenAllWait();
    });
  return {
    get today() {
      return today;
    },
    nextDay: () => wait(true),
    leaseOver: () => wait(false),
    leave() {
      present -= 1;
      turnWhenAllWait();
    },
  };
}
