import { chmodSync, copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QueryResultRow } from 'pg';
import { eventually } from '../eventually.ts';
import type { TestScope } from '../gateway/gateway.ts';
import type { Certificate } from '../servers/certificates.ts';
import { onFreePort } from '../servers/free-port.ts';
import { unpackCluster } from './postgres-cluster.ts';
import { guardPostgres } from './postgres-guard.ts';
import { createPostgresProcess } from './postgres-process.ts';
import {
  giveToPostgres,
  makePostgresFolder,
  type PostgresPrograms,
  programsFor,
} from './postgres-programs.ts';
import { queryAsSuperuser } from './postgres-query.ts';

/** How a PostgreSQL is set up. */
export interface PostgresOptions {
  /**
   * Further lines of its configuration, e.g. `max_connections = 10`; they override those that every PostgreSQL here
   * has. Among these is `fsync = off`: what is committed survives {@link PostgresServer.kill} nonetheless, because the
   * kernel has it. It would not survive a power cut, which no test can cause.
   */
  readonly config?: readonly string[];
  /** Clients of its port have to use TLS, with that server certificate; client certificates are not requested. */
  readonly tls?: Certificate;
  /** Added to its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A PostgreSQL that is a process of its own, with children. */
export interface PostgresServer {
  /** `postgres://postern:secret@127.0.0.1:<port>/postern`; the role owns the database and is not a superuser. */
  readonly url: string;
  readonly port: number;
  /** Where its data (`data`), its log (`postgres.log`) and its Unix socket are. */
  readonly folder: string;
  /** Process id of the postmaster while it runs, even paused; null once it has ended. */
  readonly pid: number | null;
  /**
   * The rows of one statement as the superuser, over a Unix socket connection of its own; writes even when read-only.
   */
  query<Row extends QueryResultRow>(sql: string, params?: readonly unknown[]): Promise<Row[]>;
  /** Ends it and its children by SIGKILL, as a crash would. */
  kill(): Promise<void>;
  /** Shuts it down, paused or not: transactions are rolled back and clients notified (57P01). */
  stop(): Promise<void>;
  /** Starts it again, stopped first if it runs, with the same port and data. */
  restart(): Promise<void>;
  /** Pauses it: connections stay, and are even accepted, but nothing is answered. */
  pause(): void;
  /** Resumes it, with what was sent to it in the meantime. */
  resume(): void;
  /** New transactions cannot write (25006); every session is ended. Outlasts a restart. */
  makeReadOnly(): Promise<void>;
  /** Undoes that, for open sessions too. */
  makeWritable(): Promise<void>;
}

/** Starts one on a free loopback port, with an empty database; resolves when it accepts queries. Ends with the test. */
export async function startPostgres(t: TestScope, options: PostgresOptions = {}): Promise<PostgresServer> {
  return startPostgresOn(t, options, unpackCluster);
}

/** As {@link startPostgres}, with the cluster that `fill` puts into the folder as `data`. */
export async function startPostgresOn(
  t: TestScope,
  options: PostgresOptions,
  fill: (folder: string, programs: PostgresPrograms) => Promise<void>,
): Promise<PostgresServer> {
  const folder = makePostgresFolder();
  const callOff = guardPostgres(folder);
  const programs = programsFor(folder);
  const child = createPostgresProcess(programs.postgres, folder, options.env);
  t.teardown(async () => {
    await child.end('immediate');
    rmSync(folder, { recursive: true, force: true });
    callOff();
  });
  await fill(folder, programs);
  writeAccess(folder, options.tls);
  const start = (port: number) => child.start(() => queryAsSuperuser({ folder, port }, 'SELECT 1'));
  const port = await onFreePort((candidate) => {
    writeFileSync(join(folder, 'data/postgresql.conf'), configOf(folder, candidate, options).join('\n'));
    return start(candidate);
  });
  const query: PostgresServer['query'] = (sql, params) => queryAsSuperuser({ folder, port }, sql, params);
  return {
    url: `postgres://postern:secret@127.0.0.1:${port}/postern`,
    port,
    folder,
    get pid() {
      return child.pid;
    },
    query,
    kill: () => child.end('crash'),
    stop: () => child.end('fast'),
    async restart() {
      await child.end('fast');
      await start(port);
    },
    pause: child.pause,
    resume: child.resume,
    async makeReadOnly() {
      await switchReadOnly(query, 'on');
      await query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`);
    },
    makeWritable: () => switchReadOnly(query, 'off'),
  };
}

/** Picks the connections of that `application_name`, of clients that speak without TLS: see {@link ../servers/tcp-relay.ts ConnectionKind}. */
export function hasApplicationName(name: string): (opening: Buffer) => boolean {
  // In the StartupMessage names and values end with NUL.
  return (opening) => opening.includes(`\0application_name\0${name}\0`);
}

async function switchReadOnly(query: PostgresServer['query'], value: 'on' | 'off'): Promise<void> {
  await query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
  await query('SELECT pg_reload_conf()');
  // The postmaster reads it asynchronously, and new sessions have what it has read.
  await eventually(`default_transaction_read_only = ${value}`, async () => {
    const [row] = await query(
      `SELECT reset_val FROM pg_settings WHERE name = 'default_transaction_read_only'`,
    );
    return row?.reset_val === value;
  });
}

/**
 * Who may connect: the superuser by the Unix socket, in a folder that is closed to others; every other role by
 * password.
 */
function writeAccess(folder: string, tls: Certificate | undefined): void {
  const lines = [
    'local all,replication postgres trust',
    `${tls === undefined ? 'host' : 'hostssl'} all all 127.0.0.1/32 scram-sha-256`,
  ];
  writeFileSync(join(folder, 'data/pg_hba.conf'), lines.join('\n') + '\n');
  if (tls === undefined) return;
  // It accepts a key only if no other user can read it.
  const keyFile = join(folder, 'server.key');
  copyFileSync(tls.keyFile, keyFile);
  chmodSync(keyFile, 0o600);
  giveToPostgres(keyFile);
  copyFileSync(tls.certFile, join(folder, 'server.crt'));
}

function configOf(folder: string, port: number, { config = [], tls }: PostgresOptions): string[] {
  const tlsLines = [
    'ssl = on',
    `ssl_cert_file = '${join(folder, 'server.crt')}'`,
    `ssl_key_file = '${join(folder, 'server.key')}'`,
  ];
  return [
    "listen_addresses = '127.0.0.1'",
    `port = ${port}`,
    `unix_socket_directories = '${folder}'`,
    ...(tls === undefined ? [] : tlsLines),
    'max_connections = 100',
    'shared_buffers = 16MB',
    'fsync = off',
    // Few processes, and no shared memory that would remain when it is killed.
    'io_method = sync',
    'dynamic_shared_memory_type = mmap',
    'max_logical_replication_workers = 0',
    // Little of it is kept, but enough for a standby that reconnects.
    'max_wal_size = 64MB',
    'wal_keep_size = 64MB',
    'wal_retrieve_retry_interval = 100ms',
    "log_line_prefix = '%m [%p] %u %a '",
    ...config,
    '',
  ];
}
