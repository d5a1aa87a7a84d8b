import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createCommandFolder } from '../support/gateway/command.ts';

const root = join(import.meta.dirname, '../..');
const section = /^## Backup and restore\n(.*?)^## /ms.exec(
  readFileSync(join(root, 'docs/kubernetes.md'), 'utf8'),
)![1]!;
const [backupLines = '', restoreLines = ''] = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(
  ([, lines]) => lines!,
);

/**
 * A kubectl that runs what it is to execute in a pod here, in the image's working directory, with the volume at $VOLUME. It
 * passes on $CUT bytes of a transfer and ends with 0, as kubectl may when its connection breaks.
 */
const kubectl = `#!/bin/sh
[ "$1" = exec ] || { echo "$1" >> "$DONE"; exit 0; }
while [ "$1" != -- ]; do shift; done
shift
echo "exec $1" >> "$DONE"
[ "$1" != "$FAIL" ] || exit 1
count=$#
while [ $count -gt 0 ]; do
  word=$(printf '%s.' "$1" | sed "s#/data#$VOLUME#g"); word=\${word%.}
  shift; set -- "$@" "$word"; count=$((count - 1))
done
cd "$IMAGE"
case $1 in
  postern) shift; node src/main.ts "$@" --config "$VOLUME/postern.yaml" > "$DONE.out"; code=$?
    head -c "\${CUT:-999999999}" "$DONE.out"; exit $code;;
  sh) head -c "\${CUT:-999999999}" | "$@";;
  *) "$@";;
esac
`;

/** A volume with one user, and the lines run with that kubectl in another folder. */
async function createCluster(t: Test) {
  const { folder: volume, run } = createCommandFolder(t, {
    stores: { records: 'sqlite:postern.db', sessions: 'sqlite:sessions.db' },
  });
  const addUser = (name: string) =>
    run(['user', 'add', name, '--admin'], { input: 'correct horse battery staple\n' });
  await addUser('ada');
  const { folder } = createCommandFolder(t);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'kubectl'), kubectl);
  chmodSync(join(bin, 'kubectl'), 0o755);
  const { NODE_OPTIONS: _, ...env } = process.env;
  const PATH = `${bin}:${join(process.execPath, '..')}:${process.env.PATH}`;
  const runLines = (lines: string, more: Record<string, string> = {}) => {
    const DONE = join(folder, 'done');
    writeFileSync(DONE, '');
    const all = { ...env, PATH, VOLUME: volume, IMAGE: root, DONE, ...more };
    const { status, stderr } = spawnSync('sh', ['-c', lines], { cwd: folder, env: all });
    return { code: status, stderr: String(stderr), done: readFileSync(DONE, 'utf8').trim().split('\n') };
  };
  return {
    volume,
    backup: join(folder, 'records.db'),
    addUser,
    runLines,
    users: async () => (await run(['user', 'list', '--json'])).json.map(({ username }: any) => username),
  };
}

t.test('the lines for a backup make a file of that name only of a whole one', async (t) => {
  const { runLines, backup, volume } = await createCluster(t);
  const failed = runLines(backupLines, { FAIL: 'postern' });
  t.equal(failed.code, 1);
  t.notOk(existsSync(backup));
  const cut = runLines(backupLines, { CUT: '5000' });
  t.not(cut.code, 0, 'half a copy, though kubectl ended with 0');
  t.notOk(existsSync(backup));

  const before = readdirSync(volume);
  const { code, stderr } = runLines(backupLines);
  t.equal(code, 0, stderr);
  const bytes = readFileSync(backup);
  t.not(runLines(backupLines, { CUT: '5000' }).code, 0);
  t.ok(bytes.equals(readFileSync(backup)), 'an earlier backup stays');
  t.strictSame(readdirSync(volume), before, 'nothing is left in the volume');
});

t.test('the lines for a restore replace the records by a whole copy, and keep them', async (t) => {
  const { runLines, addUser, users, volume, backup } = await createCluster(t);
  t.equal(runLines(backupLines).code, 0);
  const copy = readFileSync(backup);
  await addUser('bob');

  const attempts: { name: string; env: Record<string, string> }[] = [
    { name: 'a node that is missing', env: { FAIL: 'node' } },
    { name: 'a shell that is missing', env: { FAIL: 'sh' } },
    { name: 'half a copy', env: { CUT: '5000' } },
    { name: 'nothing of a copy', env: { CUT: '0' } },
  ];
  for (const { name, env } of attempts) {
    const { code, done } = runLines(restoreLines, env);
    t.not(code, 0, name);
    t.notOk(done.includes('delete'), 'the lines end there');
    t.strictSame(await users(), ['ada', 'bob'], `${name} changes nothing`);
  }
  writeFileSync(backup, 'no database');
  t.not(runLines(restoreLines).code, 0);
  t.strictSame(await users(), ['ada', 'bob'], 'another file changes nothing');

  writeFileSync(backup, copy);
  const { code, stderr, done } = runLines(restoreLines);
  t.equal(code, 0, stderr);
  t.strictSame(done.slice(-2), ['delete', 'scale']);
  t.strictSame(await users(), ['ada']);
  const kept = readdirSync(volume).filter((name) => name.startsWith('replaced-'));
  t.equal(kept.length, 1);
  const earlier = createCommandFolder(t, {
    stores: { records: `sqlite:${join(volume, kept[0]!, 'postern.db')}`, sessions: 'sqlite:sessions.db' },
  });
  const { json } = await earlier.run(['user', 'list', '--json', '--create']);
  t.equal(json.length, 2, 'what was there is kept');
});

t.test('the lines for a restore work on an empty volume', async (t) => {
  const { runLines, users, volume } = await createCluster(t);
  t.equal(runLines(backupLines).code, 0);
  spawnSync('sh', ['-c', `rm ${volume}/postern.db*`]);
  t.equal(runLines(restoreLines).code, 0);
  t.strictSame(await users(), ['ada']);
});
