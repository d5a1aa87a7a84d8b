import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';

const runner = join(import.meta.dirname, '../run.ts');

/** Runs these files, all in one process, and returns what is printed about them and the exit code. */
function run(t: Test, files: Readonly<Record<string, string>>): { lines: string[]; status: number | null } {
  const folder = t.testdir();
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, name), `import t from 'tap';\n${text}\n`);
  const { stdout, status } = spawnSync(process.execPath, [runner, '--timeout', '5', `${folder}/*.mjs`], {
    encoding: 'utf8',
  });
  return { lines: stdout.replaceAll(`${folder}/`, '').trimEnd().split('\n'), status };
}

t.test('files that pass get a line each, and what is skipped is said', async (t) => {
  const { lines, status } = run(t, {
    'a.mjs': `t.test('one', async (t) => { t.ok(true); t.test('two', async (t) => t.ok(true)); });`,
    'b.mjs': `t.pass('three'); t.pass('four', { skip: 'not here' });`,
  });
  t.equal(status, 0);
  t.strictSame(
    lines.filter((line) => !line.includes(' files passed in ')),
    [
      'ok a.mjs (2)',
      'ok b.mjs (2)',
      'skipped: b.mjs > four (not here)',
      '4 assertions: 3 passed, 0 failed, 1 skipped',
    ],
  );
});

t.test('hooks and teardowns of a file end with it', async (t) => {
  const { lines, status } = run(t, {
    'a.mjs': `globalThis.before = 0; globalThis.after = 0;
      t.beforeEach(() => { globalThis.before++; });
      t.teardown(() => { globalThis.after++; });
      t.test('one', async (t) => t.equal(globalThis.after, 0));`,
    'b.mjs': `t.test('one', async (t) => t.strictSame([globalThis.before, globalThis.after], [1, 1]));`,
  });
  t.equal(status, 0, lines.join('\n'));
});

t.test('each way to fail fails its file and no other', async (t) => {
  const { lines, status } = run(t, {
    'assertion.mjs': `t.test('one', async (t) => t.equal(1, 2, 'is two'));`,
    'passes.mjs': `t.test('one', async () => {});`,
    'test.mjs': `t.test('one', async () => { throw new Error('boom'); });`,
    'throws.mjs': `throw new Error('bang');`,
    'timeout.mjs': `t.test('one', async (t) => {
      t.setTimeout(50);
      await new Promise((resolve) => setTimeout(resolve, 300));
    });`,
    'untested.mjs': '',
  });
  t.equal(status, 1);
  t.strictSame(lines.filter((line) => line.startsWith('not ok ')).slice(0, 5), [
    'not ok assertion.mjs: failed',
    'not ok test.mjs: failed',
    'not ok throws.mjs: failed',
    'not ok timeout.mjs: failed',
    'not ok untested.mjs: has no test',
  ]);
  for (const said of [
    '\nok passes.mjs (1)',
    'assertion.mjs > one > is two',
    'test.mjs > one > boom',
    'throws.mjs > bang',
    'timeout!',
    '1 of 6 files passed in ',
    '5 assertions: 1 passed, 4 failed, 0 skipped',
  ])
    t.match(lines.join('\n'), said);
});

t.test('a process that ends early fails the file and those after it', async (t) => {
  const { lines } = run(t, {
    'a.mjs': `t.ok(true); process.kill(process.pid, 'SIGKILL');`,
    'b.mjs': 't.ok(true);',
  });
  t.match(lines, [
    'not ok a.mjs: its process ended with SIGKILL',
    'not ok b.mjs: its process ended with SIGKILL',
  ]);
  const exits = run(t, { 'a.mjs': `t.test('one', async (t) => { t.ok(true); process.exit(0); });` });
  t.equal(exits.status, 1);
  t.match(exits.lines, ['not ok a.mjs: failed']);
});

t.test('an error that a file leaves behind and throws later fails the run', async (t) => {
  const { lines, status } = run(t, {
    'a.mjs': `t.ok(true); setTimeout(() => { throw new Error('too late'); }, 20);`,
    'b.mjs': `t.ok(true);`,
  });
  t.equal(status, 1);
  t.match(lines.join('\n'), 'not ok after b.mjs: its process ended with code 1');
});

t.test('no file at all fails the run', async (t) => {
  t.equal(run(t, {}).status, 1);
});
