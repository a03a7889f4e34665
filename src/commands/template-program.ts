/** The commands on templates, their options and their help. */
import { type Command, Option } from 'commander';
import type { Add } from './add-command.ts';

/** `certo template …` */
export function addTemplates(program: Command, add: Add): void {
  const template = program.command('template').description("how a company's PDFs look: logo, colour, footer, language");
  const templates = () => import('./template.ts');
  const ofCompany = (command: Command) => command.requiredOption('--company <id or NIF>', 'whose');
  const looks = (command: Command) =>
    ofCompany(command)
      .option('--logo <file>', 'PNG, JPEG or SVG, at most 512 KiB; it is written anew')
      .option('--colour <#rrggbb>', 'of title and rules; dark enough to read on white')
      .option('--footer <text>', 'at the foot of the last page: bank account, share capital …; \\n breaks the line')
      .addOption(
        new Option('--language <language>', 'of the labels; mentions of the law stay Portuguese').choices(['pt', 'en']),
      )
      .addOption(
        new Option('--format <format...>', 'what it is for; repeat it for more (all when absent)').choices([
          'A4',
          'RECEIPT',
          'RECEIPT_58',
        ]),
      );
  looks(
    add(
      template,
      'add',
      'make a template',
      "certo template add --company 599999942 --name Loja --logo logo.svg --colour '#7c3aed' --default",
      async () => (await templates()).add,
    ),
  )
    .requiredOption('--name <name>', 'as listed')
    .option('--default', 'use it where no template is named');
  looks(
    add(
      template,
      'change <template>',
      'change a template; an empty --logo, --colour or --footer takes it away; what was printed stays as it was',
      'certo template change 0197a5c2-… --company 599999942 --language en',
      async () => (await templates()).change,
    ),
  ).option('--name <name>', 'as listed');
  const one = (usage: string, summary: string, load: () => Promise<unknown>) =>
    ofCompany(
      add(template, `${usage} <template>`, summary, `certo template ${usage} 0197a5c2-… --company 599999942`, load),
    );
  one('default', 'use it where no template is named', async () => (await templates()).setDefault);
  one('archive', 'take it out of use; documents that name it are still printed with it', async () => {
    return (await templates()).archive;
  });
  ofCompany(
    add(template, 'list', 'list templates', 'certo template list --company 599999942', async () => {
      return (await templates()).list;
    }),
  );
}
