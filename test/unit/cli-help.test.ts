import t from 'tap';
import type { Command } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { helpOf, overviewOf, usageOf } from '../../src/cli/help.ts';

const help = (name: string) => helpOf(commands.find((command) => command.name === name)!);
/** Names of the options that have a line of their own, in order. */
const explained = (text: string) =>
  [...text.matchAll(/^ {2}(?:-\w, | {4})--([\w-]+)(?: \S.*?)? {2,}\S/gm)].map(([, name]) => name);

for (const command of commands)
  t.test(`help ${command.name} explains every option on a line of its own, within 80 columns`, async (t) => {
    const text = helpOf(command);
    t.strictSame(
      text.split('\n').filter((line) => line.length > 80),
      [],
    );
    const own = Object.keys(command.options ?? {});
    t.strictSame(explained(text).slice(0, own.length), own);
    t.equal(explained(text).at(-1), 'help');
    for (const operand of command.operands ?? []) t.ok(usageOf(command).includes(operand), operand);
    for (const option of own) t.match(usageOf(command), new RegExp(`--${option}\\b`));
  });

t.test('help shows an option only where the command reads it', async (t) => {
  t.strictSame(explained(help('serve')), ['quickstart', 'upstream', 'listen', 'create', 'config', 'help']);
  t.strictSame(explained(help('check')), ['config', 'json', 'help']);
  t.strictSame(explained(help('openapi')), ['json', 'help']);
  t.strictSame(explained(help('user list')), ['create', 'config', 'json', 'help']);
});

t.test('the overview has a line for each command, within 80 columns', async (t) => {
  const lines = overviewOf(commands).split('\n');
  t.ok(lines.every((line) => line.length <= 80));
  for (const { name, summary } of commands)
    t.ok(
      lines.some((line) => line.startsWith(`  ${name}`) && line.endsWith(summary)),
      name,
    );
});

t.test('usage shows what is required, may be left out, excludes another and may be repeated', async (t) => {
  const command: Command = {
    name: 'thing add',
    operands: ['NAME'],
    summary: 'Add a thing',
    options: {
      user: { value: 'NAME', isRequired: true, help: 'owner' },
      one: { help: 'one way' },
      other: { value: 'N', isAlternative: true, help: 'the other way' },
      set: { value: 'NAME', isRepeatable: true, help: 'set' },
    },
    run: async () => {},
  };
  t.equal(
    usageOf(command),
    'usage: postern thing add NAME --user NAME [--one | --other N] [--set NAME]...\n               [--config FILE]\n',
  );
});
