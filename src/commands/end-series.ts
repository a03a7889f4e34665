/** `certo series finalize` and `annul`: end a series at the AT and here. Neither can be undone. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../fiscal/refusal.ts';
import { type Because, type EndOutcome, endSeries, type SeriesEnd } from '../operations/series/end-series.ts';
import { connectSeries } from './connect-series.ts';
import { CommandError, exit } from './exit.ts';
import { checkText } from './given-text.ts';
import { enterHouse, findCompany, needId, type OfCompany } from './guest.ts';
import { type Outside, remark, tell, tellJson } from './outside.ts';

export interface FinalizeOptions extends OfCompany {
  readonly justification?: string;
}

// The service tells the AT of a document within a second or two, and of a series in use there are always some.
const wait_ms = 250;
const longest_wait_ms = 20_000;

/**
 * Ends with 1 when nothing was issued in it, or documents of it are not at the AT after 20 s; 3 when the AT's answer
 * is not known.
 */
export async function finalize(outside: Outside, options: FinalizeOptions, seriesId: string): Promise<number> {
  const { id, code, lastNumber, heir } = await end(outside, options, seriesId, 'FINALIZED');
  if (options.json === true) tellJson(outside, { id, code, lastNumber, status: 'FINALIZED', newDefault: heir });
  else tell(outside, `The series ${code} is finalised; its last document is number ${lastNumber}.${inItsPlace(heir)}`);
  return exit.ok;
}

/** Of a series in which nothing was issued: else it ends with 1. */
export async function annul(outside: Outside, options: OfCompany, seriesId: string): Promise<number> {
  const { id, code, heir } = await end(outside, options, seriesId, 'ANNULLED');
  if (options.json === true) tellJson(outside, { id, code, status: 'ANNULLED', newDefault: heir });
  else tell(outside, `The series ${code} is annulled. Its identifier is not used again.${inItsPlace(heir)}`);
  return exit.ok;
}

const inItsPlace = (heir: string | undefined): string => (heir === undefined ? '' : ` The default is ${heir} now.`);

async function end(
  outside: Outside,
  options: FinalizeOptions,
  seriesId: string,
  how: SeriesEnd,
): Promise<Extract<EndOutcome, { kind: 'ended' }> & { readonly id: string }> {
  const id = needId(seriesId, 'a series');
  if (options.justification !== undefined) checkText('--justification', options.justification);
  const house = await enterHouse(outside);
  const company = await findCompany(house.owner, options.company);
  const world = await connectSeries(outside, house);
  await world.up();
  const { justification } = options;
  const ended = await endSeries(world, company.id, { seriesId: id, end: how, justification, wait: patience(outside) });
  if (ended.kind !== 'ended') throw refusalOf(outside, ended, how);
  return { id, ...ended };
}

function patience(outside: Outside): (pending: number) => Promise<boolean> {
  let waited_ms = 0;
  return async (pending) => {
    if (waited_ms >= longest_wait_ms) return false;
    // Most are there at once, and then nothing has to be said.
    if (waited_ms === wait_ms * 8)
      remark(outside, `Waiting for ${pending} document(s) that are not at the AT yet; nothing more is numbered.`);
    await sleep(wait_ms);
    waited_ms += wait_ms;
    return true;
  };
}

function refusalOf(outside: Outside, ended: Exclude<EndOutcome, { kind: 'ended' }>, how: SeriesEnd): Error {
  switch (ended.kind) {
    case 'no-series':
      return no('The company has no such series: see certo series list.');
    case 'not-active':
      return no(notActive(ended.code, ended.status));
    case 'other-end':
      return no(
        how === 'FINALIZED'
          ? `Nothing was issued in the series ${ended.code}: there is nothing to finalise. To give it up: certo series annul.`
          : `${ended.lastNumber} document(s) were issued in the series ${ended.code}: finalise it (certo series finalize).`,
      );
    case 'active-again': {
      remark(outside, `The series ${ended.code} is active again.`);
      const { no } = ended;
      if (no.kind === 'unknown') return new Refusal('AT_UNREACHABLE', { problem: no.problem });
      return new Refusal('AT_REFUSED', { code: no.code, message: no.message });
    }
    case 'stopped':
      return stillEnding(ended.code, ended.lastNumber, ended.because, how);
  }
}

function notActive(code: string, status: string): string {
  if (status === 'CLOSED')
    return `The series ${code} was closed by a restore, and its last number is not known here: finalise it in the tax portal, with the last number that the lost documents show.`;
  if (status === 'ACTIVE' || status === 'ENDING')
    return `Another command has changed the series ${code} meanwhile, which is ${status} now: run this one again.`;
  return `The series ${code} is ${status}, not active.`;
}

/** One sentence: what is not known or not there, that nothing is numbered, and what to do. */
function stillEnding(code: string, lastNumber: number, because: Because, how: SeriesEnd): CommandError {
  switch (because.kind) {
    case 'pending':
      return no(
        `${because.documents} document(s) of the series ${code} are not at the AT yet: nothing more is numbered in it, and this command, run again when they are there, ends it.`,
      );
    case 'unknown':
      return new CommandError(
        exit.environment,
        `It is not known whether the AT has ${how === 'FINALIZED' ? 'finalised' : 'annulled'} the series ${code} (${because.problem}): nothing is numbered in it until this command, run again, has asked the AT.`,
      );
    case 'differs':
      return no(
        `At the AT the series ${code} is ${because.held}, which does not fit its last number here, ${lastNumber}: nothing more is numbered in it; compare the two in the tax portal.`,
      );
  }
}

const no = (message: string) => new CommandError(exit.no, message);
