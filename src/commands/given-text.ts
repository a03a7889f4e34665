/** Texts that the operator gives, judged as those that come over the API. */
import { wrongWithKept } from '../engine/plain-text.ts';
import { sentence } from '../fiscal/refusal.ts';
import { CommandError, exit } from './exit.ts';

/** Throws CommandError for what cannot be printed or exported, or turns the text around. */
export function checkText(option: string, text: string): void {
  const wrong = wrongWithKept(text);
  if (wrong === undefined) return;
  throw new CommandError(exit.usage, `${option}: ${sentence(wrong.code, 'en', { character: wrong.character })}`);
}
