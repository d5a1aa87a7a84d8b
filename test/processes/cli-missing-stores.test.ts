import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../src/cli/commands.ts';
import { createCommandFolder } from '../support/gateway/command.ts';

const input = 'correct horse battery staple\n';
const isStore = (name: string) => name.includes('.db');

/** A call of each command that opens the stores, but for those that may be the first to. */
const calls = commands
  .filter(({ stores }) => stores === undefined)
  .map(({ name, operands = [] }) => [
    ...name.split(' '),
    ...operands.filter((operand) => !operand.startsWith('[')).map(() => 'something'),
  ]);

t.test('no other command makes a store, and its sentence names the file', async (t) => {
  t.ok(calls.length > 15);
  const { run, folder } = createCommandFolder(t);
  for (const args of calls) {
    const { code, stdout, stderr } = await run(args, { input });
    // Some judge their options before they look for a store.
    t.ok(code === 1 || code === 2, args.join(' '));
    t.equal(stdout, '');
    if (code === 1)
      t.match(
        stderr,
        /^postern: \S*records\.db: does not exist or is empty; .* --create\n$/m,
        args.join(' '),
      );
  }
  t.match(await run(['user', 'list']), { code: 1, stderr: /records\.db: does not exist or is empty/ });
  t.notOk(readdirSync(folder).some(isStore));
});

t.test('with --create it does', async (t) => {
  const { run, folder } = createCommandFolder(t);
  t.match(await run(['user', 'list', '--json', '--create']), { code: 0, stdout: '[]\n', stderr: '' });
  t.ok(existsSync(join(folder, 'records.db')));
  t.match(await run(['user', 'list', '--json']), { code: 0, stdout: '[]\n' });
});

t.test('user add makes them at a first start', async (t) => {
  const { run, folder } = createCommandFolder(t);
  t.match(await run(['user', 'add', 'ada'], { input }), { code: 0 });
  t.strictSame(readdirSync(folder).filter(isStore), ['records.db', 'sessions.db']);
});

t.test('records that are missing beside sessions are never made anew unasked', async (t) => {
  const { run, serve, folder } = createCommandFolder(t);
  await run(['user', 'add', 'ada', '--admin'], { input });
  const file = join(folder, 'records.db');
  renameSync(file, `${file}.moved`);
  const sentence =
    /records\.db:? does not exist or is empty, but \S*sessions\.db is not: put the records back, restore a backup, or start with empty ones by --create\n$/;
  t.match(await run(['serve']), { code: 2, stderr: sentence });
  t.match(await run(['check']), { code: 2, stderr: sentence });
  t.match(await run(['user', 'add', 'mallory', '--admin'], { input }), { code: 1, stderr: sentence });
  t.notOk(existsSync(file));
  // Nor in a file that was emptied: SQLite would make a store of it.
  writeFileSync(file, '');
  t.match(await run(['serve']), { code: 2, stderr: sentence });
  t.match(await run(['user', 'list']), { code: 1, stderr: /records\.db: does not exist or is empty; / });
  rmSync(file);
  const { child, ended } = await serve(['--create']);
  child.kill('SIGTERM');
  t.equal((await ended).code, 0);
  t.ok(existsSync(file), 'by serve --create');
  renameSync(`${file}.moved`, file);
  t.match((await run(['user', 'list', '--json'])).json, [{ username: 'ada' }]);
});

t.test('sessions that are missing are made by serve, with a line in its log', async (t) => {
  const { run, serve, folder } = createCommandFolder(t);
  await run(['user', 'add', 'ada'], { input });
  renameSync(join(folder, 'sessions.db'), join(folder, 'moved'));
  t.match(await run(['user', 'list']), { code: 1, stderr: /sessions\.db: does not exist or is empty; / });
  const { child, ended } = await serve();
  child.kill('SIGTERM');
  const { stdout } = await ended;
  const created = stdout
    .split('\n')
    .filter((line) => line.includes('store file created'))
    .map((line) => JSON.parse(line));
  t.match(created, [{ level: 'info', store: 'sessions', file: /sessions\.db$/ }]);
  t.equal(created.length, 1);
});
