import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../eventually.ts';
import type { TestScope } from '../gateway/gateway.ts';
import { giveToPostgres } from './postgres-programs.ts';
import { asSuperuser } from './postgres-query.ts';
import { type PostgresOptions, type PostgresServer, startPostgresOn } from './postgres-server.ts';

/** A PostgreSQL that follows another one, and can be read in the meantime. */
export interface PostgresStandby extends PostgresServer {
  /** Resolves once it shows what is committed on the primary now. */
  caughtUp(): Promise<void>;
  /** Promotes it: it accepts writes from now on, and follows no one. */
  promote(): Promise<void>;
}

/**
 * Starts one from a copy of the primary, which is running. It follows asynchronously; to make commits wait for it, set
 * `synchronous_standby_names` to `'*'` on the primary then. The caller has to keep a replaced primary from serving.
 */
export async function startPostgresStandby(
  t: TestScope,
  primary: PostgresServer,
  options: PostgresOptions = {},
): Promise<PostgresStandby> {
  const address = `host=${primary.folder} port=${primary.port} user=postgres application_name=standby`;
  const config = [`primary_conninfo = '${address}'`, ...(options.config ?? [])];
  const standby = await startPostgresOn(t, { ...options, config }, (folder) => copyCluster(primary, folder));
  return Object.assign(standby, {
    async caughtUp() {
      const [now] = await primary.query('SELECT pg_current_wal_lsn() AS lsn');
      await eventually('the standby has caught up', async () => {
        const [row] = await standby.query('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS done', [
          now!.lsn,
        ]);
        return row!.done === true;
      });
    },
    async promote() {
      await standby.query('SELECT pg_promote()');
    },
  });
}

/**
 * A base backup by hand, as in "Making a Base Backup Using the Low Level API" of its manual: pg_basebackup is not
 * available.
 */
async function copyCluster(primary: PostgresServer, folder: string): Promise<void> {
  const data = join(folder, 'data');
  const write = (name: string, text: string) => {
    const path = join(data, name);
    writeFileSync(path, text);
    // It opens them for writing.
    giveToPostgres(path);
  };
  await asSuperuser(primary, async (client) => {
    await client.query(`SELECT pg_backup_start('standby', true)`);
    await promisify(execFile)('cp', ['-a', join(primary.folder, 'data'), data]);
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)');
    write('backup_label', rows[0].labelfile);
  });
  rmSync(join(data, 'postmaster.pid'));
  write('standby.signal', '');
}
