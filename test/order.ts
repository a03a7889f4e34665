/** Which test files have a process of their own, and the order in which all are run. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Those that start the program itself, and read little of the service; and those that measure the process they are in (its
 * memory, its processor time, its files, the statements that it has declared): what others left there would be counted, or
 * make room for what should not be; and those that set the time, which what others have left of the event loop's queue
 * would never reach.
 */
export const alone = [
  ...['bench', 'browser', 'commands', 'simulation'].map((room) => `test/${room}/**/*.test.ts`),
  'src/at/simulator/ledger.test.ts',
  'src/at/soap-gateway.test.ts',
  'src/db/backup/read-frames.test.ts',
  'src/db/event-loop.test.ts',
  'src/doors/http/bodies.test.ts',
  'src/engine/ahead.test.ts',
  'src/engine/press.test.ts',
  'src/engine/spool.test.ts',
  'src/fiscal/correct.test.ts',
  'src/fiscal/saft/check/hostile.test.ts',
  'src/fiscal/settle.test.ts',
  'src/print/logo.test.ts',
  'src/print/pdf/lines.test.ts',
  'test/matrix/answers.test.ts',
  'test/matrix/reach.test.ts',
  'test/stories/orders.test.ts',
];

/**
 * The simulations first. Vitest takes a file to run the longer the larger it is, where it has not run it before; these are
 * short and take minutes, and begun last they would have the machine for themselves at the end. Those that share a
 * process come last, one behind the other: it ends where a file of another kind follows.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) =>
      moduleId.includes('/test/simulation/') ? 0 : project.config.isolate ? 1 : 2;
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
