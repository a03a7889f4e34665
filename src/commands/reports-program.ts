/** The commands on what is told to the AT, their options and their help. */
import type { Command } from 'commander';
import type { Add } from './add-command.ts';

/** `certo reports …` */
export function addReports(program: Command, add: Add): void {
  const reports = program.command('reports').description("a company's documents as they are told to the AT");
  const ofCompany = (command: Command) => command.requiredOption('--company <id or NIF>', 'whose');
  const commands = () => import('./reports.ts');
  ofCompany(
    add(
      reports,
      'refused',
      'list the documents that the AT refused, with its words',
      'certo reports refused --company 599999942',
      async () => (await commands()).refused,
    ),
  );
  ofCompany(
    add(
      reports,
      'again',
      'tell the AT again what it refused, once the reason is gone',
      'certo reports again --company 599999942',
      async () => (await commands()).again,
    ),
  ).option('--number <number...>', 'only this document; repeat it for more');
}
