import { PassThrough } from 'node:stream';
import t from 'tap';
import { run } from '../../src/cli/run.ts';
import { readPassword } from '../../src/cli/terminal.ts';
import { createCommandFolder } from '../support/gateway/command.ts';

type Typed = string | (() => Promise<string>);

/** A terminal on which `typed` is typed, one each time it shows something; that is collected. */
function terminalOf(typed: Typed[]) {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => void modes.push(raw),
  });
  const stderr = new PassThrough();
  let shown = '';
  stderr.on('data', async (chunk: Buffer) => {
    shown += chunk;
    const next = typed.shift();
    if (next !== undefined) stdin.write(typeof next === 'string' ? next : await next());
  });
  return { terminal: { stdin, stderr, env: {}, cwd: process.cwd } as never, modes, shown: () => shown };
}

const judge = (raw: string) => {
  if (raw.length < 4) throw new Error('too short');
  return raw;
};
const password = 'correct horse battery staple';
const prompts = 'Password: \nRepeat password: \n';

t.test('a password is asked for twice, without echo', async (t) => {
  const { terminal, modes, shown } = terminalOf(['s3cret\r', '', 's3crex\x7ft\r']);
  t.equal(await readPassword(terminal, judge), 's3cret');
  t.equal(shown(), prompts);
  t.same(modes, [true, false], 'the terminal is as it was');
});

const refused = [
  { name: 'two that differ', typed: ['s3cret\r', '', 's3creT\r'], says: /differ/, shows: prompts },
  { name: 'a bad one, before it is typed again', typed: ['s3\r'], says: /too short/, shows: 'Password: \n' },
  { name: 'nothing, by Ctrl-C', typed: ['s3cret\x03'], says: /no password was given/, shows: 'Password: \n' },
  { name: 'nothing, by Ctrl-D', typed: ['\x04'], says: /no password was given/, shows: 'Password: \n' },
];

for (const { name, typed, says, shows } of refused) {
  t.test(`refused is ${name}`, async (t) => {
    const { terminal, modes, shown } = terminalOf(typed);
    await t.rejects(readPassword(terminal, judge), says);
    t.equal(shown(), shows);
    t.same(modes, [true, false], 'the terminal is as it was');
  });
}

t.test('a name that somebody takes while the password is typed is taken', async (t) => {
  const folder = createCommandFolder(t);
  const again = async () => {
    t.equal((await folder.run(['user', 'add', 'ada'], { input: password })).code, 0);
    return `${password}\r`;
  };
  const { terminal, shown } = terminalOf([`${password}\r`, '', again]);
  t.equal(await run(['user', 'add', 'Ada', '--config', folder.configFile], terminal), 1);
  t.equal(shown(), `${prompts}postern: user "Ada" already exists\n`);
});
