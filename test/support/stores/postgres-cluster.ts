import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import {
  makePostgresFolder,
  type PostgresPrograms,
  postgresSpawnOptions,
  programsFor,
} from './postgres-programs.ts';

const run = promisify(execFile);

const initdbArgs = [
  ...['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale-provider=builtin'],
  ...['--locale=C.UTF-8', '--wal-segsize=1', '--no-sync'],
];

/**
 * Each line is a statement, as the stand-alone server reads them. There are no more databases than needed, because each
 * has 300 files, and creating those is what takes time.
 */
const sql = `CREATE ROLE postern LOGIN PASSWORD 'secret'
ALTER DATABASE postgres RENAME TO postern
ALTER DATABASE postern OWNER TO postern
UPDATE pg_database SET datistemplate = false WHERE datname = 'template0'
DROP DATABASE template0
`;

/**
 * Puts a new database cluster into `folder`, as `data`: superuser `postgres`, and the database `postern` of the role
 * `postern` with password `secret`. It takes a second to create one, so the first on a machine is kept in the folder
 * for temporary files for later ones.
 */
export async function unpackCluster(folder: string, programs: PostgresPrograms): Promise<void> {
  const archive = await archivePath(programs);
  if (!isOurs(archive)) await makeArchive(archive);
  await run('tar', ['-xpf', archive, '-C', folder, '--numeric-owner']);
}

/** One file, not a folder: it appears at once, and a clean-up of temporary files doesn't leave half of it. */
async function archivePath({ postgres }: PostgresPrograms): Promise<string> {
  const { stdout: version } = await run(postgres, ['--version'], postgresSpawnOptions());
  const recipe = JSON.stringify([version, process.arch, process.getuid?.(), initdbArgs, sql]);
  const key = createHash('sha256').update(recipe).digest('hex').slice(0, 16);
  return join(tmpdir(), `postern-postgres-${key}.tar`);
}

/** Any user can put a file there. */
function isOurs(archive: string): boolean {
  const stat = lstatSync(archive, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.uid === process.getuid?.();
}

/** Several processes may do so at once: the last one's stays. */
async function makeArchive(archive: string): Promise<void> {
  const staging = makePostgresFolder();
  const packed = `${archive}.${basename(staging)}`;
  try {
    const programs = programsFor(staging);
    const data = join(staging, 'data');
    await run(programs.initdb, [...initdbArgs, '-D', data], postgresSpawnOptions());
    const single = run(
      programs.postgres,
      ['--single', '-F', '-D', data, 'template1'],
      postgresSpawnOptions(),
    );
    single.child.stdin?.end(sql);
    await single;
    await run('tar', ['-cf', packed, '-C', staging, 'data', '--numeric-owner']);
    renameSync(packed, archive);
  } finally {
    for (const path of [staging, packed]) rmSync(path, { recursive: true, force: true });
  }
}
