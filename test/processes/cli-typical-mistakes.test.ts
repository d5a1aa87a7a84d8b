import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Terminal } from '../../src/cli/command.ts';
import { run } from '../../src/cli/run.ts';
import { acceptedMistakes, refusedMistakes } from '../support/corpora/typical-mistakes.ts';
import { createCommandFolder } from '../support/gateway/command.ts';

const folder = t.testdir({ other: {} });
const file = join(folder, 'postern.yaml');

/** Runs a command in this process, as the program would. */
async function outcomeOf(...args: string[]) {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({
    write(text: string, done?: () => void) {
      written[name] += text;
      done?.();
      return true;
    },
    once() {},
    off() {},
  });
  const terminal = {
    env: {},
    cwd: () => folder,
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    on() {},
    exit() {},
  };
  const code = await run(args, terminal as unknown as Terminal);
  return { code, ...written };
}

t.test(`check and serve say how to mend each of ${refusedMistakes.length} mistakes`, async (t) => {
  for (const [sentence, yaml, ...lines] of refusedMistakes)
    await t.test(sentence, async (t) => {
      writeFileSync(file, yaml);
      const stderr = lines.map((line) => `${file}:${line}\n`).join('');
      for (const command of ['check', 'serve'])
        t.strictSame(await outcomeOf(command, '--config', file), { code: 2, stdout: '', stderr }, command);
    });
});

t.test(`check warns of each of ${acceptedMistakes.length}, and counts`, async (t) => {
  for (const [sentence, yaml, ...lines] of acceptedMistakes)
    await t.test(sentence, async (t) => {
      writeFileSync(file, yaml);
      const verdicts = ['no problems', '1 warning, no errors', '2 warnings, no errors'];
      t.strictSame(await outcomeOf('check', '--config', file), {
        code: 0,
        stdout: `${file}: ${verdicts[lines.length]}\n`,
        stderr: lines.map((line) => `${file}:${line}\n`).join(''),
      });
    });
});

t.test('serve logs the same warnings, once each', async (t) => {
  const { serve, configFile } = createCommandFolder(t, {
    scopes: { a: 'A', b: 'B' },
    routes: [{ prefix: '/', upstream: 'app' }],
  });
  const { printed } = await serve();
  const lines = printed()
    .stdout.split('\n')
    .filter((line) => line.includes('configuration warning'));
  t.equal(lines.length, 1);
  const { level, problems } = JSON.parse(lines[0]!);
  t.equal(level, 'warn');
  t.match(problems, [/^.*postern\.yaml:\d+:\d+: scopes\.a: no route/, /: scopes\.b: no route/]);
  t.ok(problems.every((problem: string) => problem.startsWith(configFile) && !problem.includes('warning')));
});

const good =
  'tenant: acme\nbase_url: http://127.0.0.1:8080\nscopes: { stock:read: Read }\nroutes: [{ prefix: /, upstream: app, scopes: [stock:read] }]\nupstreams: { app: { url: builtin:echo } }\n';

const commands: [sentence: string, args: string[], says: RegExp][] = [
  ['a misspelt command', ['chekc'], /no such command "chekc": did you mean "check"\?/],
  ['a misspelt second word', ['user', 'lst'], /did you mean "user list"\?/],
  ['a misspelt option', ['check', '--confg', file], /did you mean "--config"\?/],
  [
    'a file that is not there',
    ['check', '--config', join(folder, 'absent.yaml')],
    /can't be read: no such file/,
  ],
  ['a folder', ['check', '--config', join(folder, 'other')], /can't be read: .*folder|EISDIR/],
  [
    'a command before the first start',
    ['user', 'list', '--config', file],
    /"serve" and "user add" create it at a first start/,
  ],
];

t.test('commands say how to mend a mistake', async (t) => {
  writeFileSync(file, good);
  for (const [sentence, args, says] of commands)
    await t.test(sentence, async (t) => {
      const { code, stdout, stderr } = await outcomeOf(...args);
      t.ok(code > 0);
      t.equal(stdout, '');
      t.match(stderr, says);
    });
});
