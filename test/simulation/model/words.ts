/** Commands for people who read a history. */
import { customers, items } from './catalogue.ts';
import { type Command, nobody } from './judge.ts';
import type { Line } from './money.ts';
import { decimal, euros } from './speak.ts';
import type { Asked, AskedNote } from './world.ts';

/** A command in a few words. */
export function wordsOf(command: Command): string {
  switch (command.kind) {
    case 'create': {
      const { type, asked, parent, reason } = command;
      const of = parent === undefined ? '' : ` of ${nameOf(parent)}${reason === true ? '' : ' without a reason'}`;
      return `create ${type}${of}${changeWords(asked)} for the ${customers[asked.customer]}`;
    }
    case 'patch':
      return `patch ${nameOf(command.doc)}${changeWords(command.change)}`;
    case 'patch note':
      return `patch ${nameOf(command.doc)}${noteWords(command.change)}`;
    case 'issue':
      return `issue ${nameOf(command.doc)} as of act ${command.revision}`;
    case 'pay': {
      const { doc, amount, date } = command;
      return `pay ${nameOf(doc)} ${amount === undefined ? 'all' : euros(amount)}${date === undefined ? '' : ` dated ${date}`}`;
    }
    case 'credit':
      return `credit ${nameOf(command.doc)}${noteWords(command.note)}${command.issue ? '' : ', as a draft'}`;
    default:
      return `${command.kind} ${nameOf(command.doc)}`;
  }
}

const nameOf = (doc: number): string => (doc === nobody ? "nobody's document" : `the document of act ${doc}`);

function changeWords({ lines, off, date, due }: Partial<Asked>): string {
  const price = (line: Line): string => {
    const unit = decimal(line.price ?? items[line.item]!.price, 4);
    const less =
      line.off === undefined
        ? ''
        : 'percent' in line.off
          ? ` − ${line.off.percent / 100} %`
          : ` − ${euros(line.off.each)} each`;
    return `${line.quantity / 1_000} × ${items[line.item]!.name} at ${unit}${less}`;
  };
  return [
    lines === undefined ? '' : `: ${lines.map(price).join(' + ')}`,
    off === undefined ? '' : `, less ${'percent' in off ? `${off.percent / 100} %` : euros(off.amount)} on the whole`,
    date === undefined ? '' : `, dated ${date}`,
    due === undefined ? '' : `, due ${due}`,
  ].join('');
}

function noteWords({ items: wanted, date }: AskedNote): string {
  const some = wanted?.map(({ line, quantity }) => `${quantity / 1_000} of line ${line + 1}`).join(' + ');
  return `${some === undefined ? '' : `: ${some}`}${date === undefined ? '' : `, dated ${date}`}`;
}
