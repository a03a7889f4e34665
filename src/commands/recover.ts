/** `certo recover`: documents of printed forms, and copies of lost ones, into recovery series. Problems are told before anything is written. */
import { type Facts, type Problem, Refusal, sentence, type Words } from '../fiscal/refusal.ts';
import { type Planned, planRecovery, type RecoveryFile } from '../operations/recovery/plan.ts';
import { recoverDocument } from '../operations/recovery/recover.ts';
import type { World } from '../operations/world.ts';
import { laterGateway } from './authority.ts';
import { exit } from './exit.ts';
import { enterHouse, findCompany, type OfCompany } from './guest.ts';
import type { House } from './house.ts';
import { bindMode, checkClock } from './installation.ts';
import { openLog } from './logging.ts';
import { masterKeyFile, openMasterKey } from './master-key.ts';
import { type OpenApp, openApp } from './open-app.ts';
import { type Outside, remark, tell, tellJson } from './outside.ts';
import { counted, openProgress } from './progress.ts';
import { readRecoveryFile } from './recovery-file.ts';
import { baseUrlOf } from './running.ts';

export interface RecoverOptions extends OfCompany {
  readonly series?: string;
  readonly dryRun?: boolean;
}

/**
 * Ends with 1 when something stands against the file, with nothing written. Run again it goes on after what is
 * recovered already.
 */
export async function recover(outside: Outside, options: RecoverOptions, path: string): Promise<number> {
  const read = await tellingAll(outside, options, () => readRecoveryFile(path));
  if (read === undefined) return exit.no;
  const house = await enterHouse(outside);
  const { id: companyId } = await findCompany(house.owner, options.company);
  const file: RecoveryFile = { companyId, ...read, seriesCode: options.series };
  const { db, world } = await openBooks(outside, house);
  const plan = await tellingAll(outside, options, () => planRecovery(db, world, file));
  if (plan === undefined) return exit.no;
  if (options.dryRun === true) {
    const left = plan.filter(({ before }) => before === undefined).length;
    if (options.json === true) tellJson(outside, { ok: true, documents: plan.length, toRecover: left });
    else tell(outside, `The file is in order: ${counted(left, 'document')} to recover of ${plan.length}.`);
    return exit.ok;
  }
  return recoverAll(outside, options, db, world, file, plan);
}

async function recoverAll(
  outside: Outside,
  options: RecoverOptions,
  db: OpenApp['db'],
  world: World,
  file: RecoveryFile,
  plan: readonly Planned[],
): Promise<number> {
  const progress = openProgress(outside.stderr, 'documents', plan.length, () => performance.now());
  const done: Record<string, unknown>[] = [];
  try {
    for (const planned of plan) {
      const {
        type,
        recovered: { kind, original },
      } = planned.asked;
      const { id, number, atcud, before } = await recoverDocument(db, world, file, planned);
      done.push({
        place: `/documents/${planned.place}`,
        kind,
        type,
        original,
        id,
        number,
        atcud,
        state: before ? 'known' : 'recovered',
      });
      progress.add(1);
    }
  } catch (error) {
    progress.end();
    remark(
      outside,
      `${done.length} of ${counted(plan.length, 'document')} stand; run the same file again when this is mended.`,
    );
    throw error;
  }
  progress.end();
  const known = done.filter(({ state }) => state === 'known').length;
  if (options.json === true) tellJson(outside, { recovered: done.length - known, known, documents: done });
  else {
    for (const { original, number, state } of done)
      tell(outside, `${original}  ${number}${state === 'known' ? '  (known)' : ''}`);
    tell(
      outside,
      `${counted(done.length - known, 'document')} recovered, ${known} known from an earlier run of this file.`,
    );
  }
  return exit.ok;
}

/** Runs a step; what it refuses is told, problem by problem. Undefined: it was refused. */
async function tellingAll<T>(
  outside: Outside,
  options: RecoverOptions,
  step: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const problems = problemsIn(error);
    if (problems.length === 0) throw error;
    tellProblems(outside, options, problems, error.facts['count'] ?? problems.length);
    return undefined;
  }
}

/** What is no JSON has one problem, and no place. */
function problemsIn(refusal: Refusal): readonly Problem[] {
  const { code, facts, problems } = refusal;
  return code === 'MALFORMED_JSON' ? [{ code, pointer: '', facts }] : problems;
}

/** `count`: of all that were found, "50+" where more were than are told. */
function tellProblems(
  outside: Outside,
  options: RecoverOptions,
  problems: readonly Problem[],
  count: Facts[string],
): void {
  const listed = problems.map(({ pointer, code, facts }) => ({ pointer, code, message: messageOf(code, facts) }));
  if (options.json === true) tellJson(outside, { ok: false, count, problems: listed });
  else for (const { pointer, message } of listed) tell(outside, `${pointer === '' ? 'The file' : pointer}: ${message}`);
  const found = typeof count === 'number' ? counted(count, 'problem') : `${count} problems`;
  remark(outside, `${found}; nothing was written.`);
}

/** The table's sentence, but where that speaks of the body of a request. */
function messageOf(code: Problem['code'], facts: Problem['facts']): string {
  if (code !== 'MALFORMED_JSON') return sentence(code, 'en', facts);
  const problem = facts?.['problem'] as Words | undefined;
  return `Is not valid JSON: ${problem?.en}. It has to be one JSON value in UTF-8.`;
}

/** The service's books and signer, without the service. Nothing is told to the AT here: the service does. */
async function openBooks(outside: Outside, house: House): Promise<OpenApp> {
  const { config, owner, directory } = house;
  await bindMode(owner, config.atMode);
  await checkClock(owner, config.atMode);
  const master = await openMasterKey(masterKeyFile(config.masterKeyFile, directory), owner);
  const at = laterGateway('this command tells the authority nothing');
  const log = openLog('silent', outside.stderr);
  return openApp(outside, house, { at, master, baseUrl: baseUrlOf(config, config.port), log, limited: false });
}
