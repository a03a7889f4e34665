/** The order in which the test files are run. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The simulations first. Vitest takes a file to run the longer the larger it is, where it has not run it before; these are
 * short and take minutes, and begun last they would have the machine for themselves at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSimulation = (file: TestSpecification) => file.moduleId.includes('/test/simulation/');
    const sorted = await super.sort(files);
    return [...sorted.filter(isSimulation), ...sorted.filter((file) => !isSimulation(file))];
  }
}
