import t from 'tap';
import { parseCall } from '../../src/cli/arguments.ts';
import type { Command } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { helpOf, overviewOf, usageOf, widthOf } from '../../src/cli/help.ts';

const help = (name: string) => helpOf(commands.find((command) => command.name === name)!, 80);
/** Names of the options that have a line of their own, in order. */
const explained = (text: string) =>
  [...text.matchAll(/^ {2}(?:-\w, | {4})--([\w-]+)(?: \S.*?)? {2,}\S/gm)].map(([, name]) => name);

for (const command of commands)
  t.test(`help ${command.name} explains every option on a line of its own, within 80 columns`, async (t) => {
    const text = helpOf(command, 80);
    for (const width of [60, 80, 100])
      t.strictSame(
        helpOf(command, width)
          .split('\n')
          .filter((line) => line.length > width && !line.startsWith('  postern ')),
        [],
      );
    const own = Object.keys(command.options ?? {});
    t.strictSame(explained(text).slice(0, own.length), own);
    t.equal(explained(text).at(-1), 'help');
    for (const operand of command.operands ?? []) t.ok(usageOf(command, 80).includes(operand), operand);
    for (const option of own) t.match(usageOf(command, 80), new RegExp(`--${option}\\b`));
  });

for (const command of commands)
  t.test(`the example of ${command.name} is a call of it, on one line`, async (t) => {
    const words = [...command.example.matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, word]) => quoted ?? word!,
    );
    const [name, args] = [command.name.split(' '), words.slice(command.name.split(' ').length)];
    t.strictSame(words.slice(0, name.length), name);
    const redirection = args.indexOf('>');
    parseCall(command, redirection < 0 ? args : args.slice(0, redirection), process);
    t.match(helpOf(command, 80), `\nExample:\n  postern ${command.example}\n`);
    t.ok(command.example.length <= 70);
  });

t.test('help is as wide as the terminal, within bounds, and 80 columns elsewhere', async (t) => {
  t.strictSame(
    [{}, { columns: 0 }, { columns: 20 }, { columns: 72 }, { columns: 300 }].map(widthOf),
    [80, 80, 40, 72, 100],
  );
  const narrow = helpOf(commands.find(({ name }) => name === 'user add')!, 40);
  t.match(
    narrow,
    /^ {6}--password-hash\n {8}read a hash made elsewhere/m,
    'below the name where it is narrow',
  );
});

t.test('help shows an option only where the command reads it', async (t) => {
  t.strictSame(explained(help('serve')), ['quickstart', 'upstream', 'listen', 'create', 'config', 'help']);
  t.strictSame(explained(help('check')), ['config', 'json', 'help']);
  t.strictSame(explained(help('openapi')), ['config', 'help']);
  t.strictSame(explained(help('user list')), ['create', 'config', 'json', 'help']);
});

t.test('the overview has a line for each command, within 80 columns', async (t) => {
  const lines = overviewOf(commands, 80).split('\n');
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
    example: 'thing add one --user ada',
    options: {
      user: { value: 'NAME', isRequired: true, help: 'owner' },
      one: { help: 'one way' },
      other: { value: 'N', isAlternative: true, help: 'the other way' },
      set: { value: 'NAME', isRepeatable: true, help: 'set' },
    },
    run: async () => {},
  };
  t.equal(
    usageOf(command, 80),
    'usage: postern thing add NAME --user NAME [--one | --other N] [--set NAME]...\n               [--config FILE]\n',
  );
});
