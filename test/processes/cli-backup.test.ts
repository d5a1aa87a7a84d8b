import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { putInPlace } from '../../src/cli/backup.ts';
import type { Terminal } from '../../src/cli/command.ts';
import { run as runCommand } from '../../src/cli/run.ts';
import { createCommandFolder, startPostern } from '../support/gateway/command.ts';
import { requireSmallDisk } from '../support/stores/small-disk.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

/** What `postern backup -` writes, as bytes. */
function backupToOutput(configFile: string) {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const args = [main, 'backup', '-', '--config', configFile];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, maxBuffer: 1e8 });
  return { code: status, stdout, stderr: String(stderr) };
}

/** A folder with one user. */
async function createFilledFolder(t: Parameters<typeof createCommandFolder>[0]) {
  const commands = createCommandFolder(t);
  await commands.run(['user', 'add', 'ada', '--admin'], { input: 'correct horse battery staple\n' });
  return commands;
}

const hasRemains = (folder: string) => readdirSync(folder).some((name) => name.includes('.backup-'));

t.test('backup copies the records to a file that opens as records', async (t) => {
  const { run, folder } = await createFilledFolder(t);
  const file = join(folder, 'copy.db');
  const saved = await run(['backup', file]);
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
  const { size: bytes } = statSync(file);
  t.match(saved, {
    code: 0,
    stdout: `${file}: 1 user, 0 keys, ${bytes} bytes, SHA-256 ${sha256}\n`,
    stderr: '',
  });
  const other = join(folder, 'other.db');
  t.match((await run(['backup', other, '--json'])).json, {
    ...{ file: other, users: 1, keys: 0, bytes: statSync(other).size },
    sha256: createHash('sha256').update(readFileSync(other)).digest('hex'),
  });

  const copy = createCommandFolder(t, {
    stores: { records: `sqlite:${file}`, sessions: 'sqlite:sessions.db' },
  });
  t.match((await copy.run(['user', 'list', '--json', '--create'])).json, [{ username: 'ada' }]);

  const again = await run(['backup', file]);
  t.equal(again.code, 1);
  t.equal(again.stderr, `postern: ${file} can't be written: there is a file of that name\n`);
  mkdirSync(join(folder, 'empty'));
  t.match(await run(['backup', join(folder, 'empty/none/copy.db')]), {
    code: 1,
    stderr: /can't be written: there is no folder \S+\/empty\/none\n$/,
  });
});

t.test('backup - writes the copy alone to standard output, and its checksum to standard error', async (t) => {
  const { configFile, folder } = await createFilledFolder(t);
  const before = readdirSync(folder);
  const { code, stdout, stderr } = backupToOutput(configFile);
  t.equal(code, 0, stderr);
  t.equal(stderr, `${createHash('sha256').update(stdout).digest('hex')}  -\n`);
  t.strictSame(readdirSync(folder), before, 'nothing is left beside the records');

  const copied = createCommandFolder(t);
  writeFileSync(join(copied.folder, 'records.db'), stdout);
  const copy = createCommandFolder(t, {
    stores: { records: `sqlite:${join(copied.folder, 'records.db')}`, sessions: 'sqlite:sessions.db' },
  });
  t.match((await copy.run(['user', 'list', '--json', '--create'])).json, [{ username: 'ada' }]);
});

t.test('backup - to a reader that is gone fails, and leaves nothing', async (t) => {
  const { configFile, folder } = await createFilledFolder(t);
  const { child, ended } = startPostern(['backup', '-', '--config', configFile]);
  child.stdout!.destroy();
  const { code, stderr } = await ended;
  t.equal(code, 1);
  t.match(stderr, /^postern: standard output can't be written: .*(EPIPE|ECONNRESET)/);
  t.notOk(hasRemains(folder));
});

for (const target of ['-', 'copy.db'])
  t.test(`backup ${target} that is stopped while it copies leaves nothing`, async (t) => {
    const { configFile, folder } = await createFilledFolder(t);
    const before = readdirSync(folder);
    const stops = new Map<string, () => void>();
    const exits: number[] = [];
    const { terminal } = createTerminal({
      on: (signal: string, stop: () => void) => stops.set(signal, stop),
      exit: (code: number) => exits.push(code),
    });
    const file = target === '-' ? target : join(folder, target);
    const running = startCopying(['backup', file, '--config', configFile], terminal);
    await running.untilCopying(folder);
    stops.get('SIGTERM')!();
    t.notOk(hasRemains(folder));
    t.strictSame(exits, [1]);
    t.strictSame([...stops.keys()].sort(), ['SIGHUP', 'SIGINT', 'SIGTERM']);
    await running.ended;
    t.strictSame(readdirSync(folder), before);
  });

t.test(
  'backup makes its copy where no one else can, and takes no name that someone else takes',
  async (t) => {
    const { configFile, folder } = await createFilledFolder(t);
    const file = join(folder, 'copy.db');
    const { terminal, printed } = createTerminal({ on: () => {} });
    const running = startCopying(['backup', file, '--config', configFile], terminal);
    const copies = await running.untilCopying(folder);
    t.equal(statSync(copies).mode & 0o777, 0o700);
    t.notOk(existsSync(file), 'nothing to put another file in place of');
    writeFileSync(file, 'theirs');
    t.equal(await running.ended, 1);
    t.equal(printed(), `postern: ${file} can't be written: there is a file of that name\n`);
    t.equal(readFileSync(file, 'utf8'), 'theirs');
    t.notOk(hasRemains(folder));
  },
);

t.test('backup to a full disk leaves nothing', async (t) => {
  const { run } = await createFilledFolder(t);
  const disk = requireSmallDisk(t, '1m');
  if (disk === undefined) return;
  disk.fill();
  const before = readdirSync(disk.folder);
  t.match(await run(['backup', join(disk.folder, 'copy.db')]), {
    code: 1,
    stderr: /can't be written: .*(full|no space)/,
  });
  t.strictSame(readdirSync(disk.folder), before);
});

t.test('a copy gets its name without hard links, too', async (t) => {
  const { folder, configFile } = createCommandFolder(t);
  const none = async () => {
    throw Object.assign(new Error(), { code: 'EPERM' });
  };
  const file = join(folder, 'copy.db');
  await putInPlace(configFile, file, none);
  t.strictSame(readFileSync(file), readFileSync(configFile));
  await t.rejects(putInPlace(configFile, file, none), { code: 'EEXIST' });
});

t.test('backup - refuses a terminal, and a result beside the copy', async (t) => {
  const { run, configFile, folder } = await createFilledFolder(t);
  t.match(await run(['backup', '-', '--json']), { code: 2, stdout: '', stderr: /exclude each other/ });
  const { terminal, printed } = createTerminal({}, true);
  t.equal(await runCommand(['backup', '-', '--config', configFile], terminal), 2);
  t.match(printed(), /^postern: the copy is binary and not for a terminal: redirect standard output\n/);
  t.notOk(hasRemains(folder));
});

/** Runs a backup in this process; `untilCopying` resolves to the folder of its copy as soon as there is one. */
function startCopying(args: readonly string[], terminal: Terminal) {
  let isDone = false;
  const ended = runCommand(args, terminal).finally(() => {
    isDone = true;
  });
  return {
    ended,
    async untilCopying(folder: string): Promise<string> {
      for (; !isDone; await setImmediate()) {
        const name = readdirSync(folder).find((name) => name.includes('.backup-'));
        if (name !== undefined) return join(folder, name);
      }
      throw new Error('it has ended');
    },
  };
}

/** A terminal for a command of this process. */
function createTerminal(functions: object, isTTY = false) {
  const pieces: string[] = [];
  const write = (chunk: Buffer, _encoding: string, done: () => void) => {
    pieces.push(String(chunk));
    done();
  };
  const stdout = Object.assign(new Writable({ write }), { isTTY });
  const stderr = new Writable({ write });
  const terminal = { stdin: Readable.from([]), stdout, stderr, env: {}, cwd: process.cwd, ...functions };
  return { terminal: terminal as unknown as Terminal, printed: () => pieces.join('') };
}
