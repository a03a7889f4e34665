import type { Command } from 'commander';

/** Adds a command to its parent, with its example; `load` gives what runs it. */
export type Add = (
  parent: Command,
  usage: string,
  summary: string,
  example: string,
  load: () => Promise<unknown>,
) => Command;
