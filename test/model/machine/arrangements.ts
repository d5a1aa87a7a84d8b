import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Random } from '../../support/corpora/random.ts';
import { requirePostgres } from '../../support/stores/postgres-programs.ts';
import { startPostgres } from '../../support/stores/postgres-server.ts';
import { startRedisCluster } from '../../support/stores/redis-cluster.ts';
import { startRedisSentinels } from '../../support/stores/redis-sentinel.ts';
import { requireRedis, startRedis } from '../../support/stores/redis-server.ts';
import { holdWriteLock } from '../../support/stores/sqlite-lock-holder.ts';
import { makeTemporaryFolder } from '../../support/temporary-folder.ts';
import type { Disturbed } from '../promises/disturbances.ts';
import type { ClockMaker, MovableClock } from './clock.ts';
import { mountDisk } from './disk.ts';
import { drawSkew, skewsMs } from './skews.ts';

/** Something that a store does in a run. */
export interface StoreFault {
  readonly kind: string;
  readonly disturbs: readonly Disturbed[];
  /** Whether the session store may lose what it had acknowledged: its replicas copy it afterwards. */
  readonly loses?: boolean;
  /** Lasts about that long, and resolves when the store serves again. */
  run(durationMs: number, random: Random): Promise<void>;
}

/** The clock of a store. */
export interface StoreClock {
  readonly name: string;
  readonly clock: MovableClock;
  /** Whether sessions go by it. */
  readonly isOfSessions: boolean;
  /** What fails at the moment in which it is set ahead: timeouts of PostgreSQL go by it (docs/failures.md). */
  readonly disturbs?: readonly Disturbed[];
}

/** Stores that several gateways share. */
export interface Arrangement {
  readonly stores: { readonly records: string; readonly sessions: string };
  readonly faults: readonly StoreFault[];
  /** Clocks of the stores that can be moved. */
  readonly clocks: readonly StoreClock[];
  /** Which clocks a session goes by: those of the gateways, where the store has none. */
  readonly sessionClock: 'gateways' | 'store';
}

export type ArrangementName = 'sqlite' | 'redis-postgres' | 'sentinel' | 'cluster';

/**
 * Starts the stores, in processes of their own where they are servers, with clocks that are off as `random` says; null:
 * the test was skipped, and says so.
 */
export async function startArrangement(
  t: Test,
  name: ArrangementName,
  folder: string,
  { clocks, random }: { readonly clocks: ClockMaker; readonly random: Random },
): Promise<Arrangement | null> {
  if (name === 'sqlite') return sqlite(t, folder);
  if (!requireRedis(t) || !requirePostgres(t)) return null;
  const clockOf = (store: string) => clocks?.(store, drawSkew(random, skewsMs.replicas));
  const postgresClock = clockOf('PostgreSQL');
  const postgres = await startPostgres(t, { env: postgresClock?.env });
  const records: StoreFault[] = [
    { kind: 'PostgreSQL is paused', disturbs: ['records'], run: paused(postgres) },
    { kind: 'PostgreSQL is killed', disturbs: ['records'], run: killed(postgres) },
    {
      kind: "PostgreSQL's backends are ended",
      disturbs: ['records'],
      run: async () => {
        await postgres.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
        );
      },
    },
  ];
  const sessions = await startSessions[name](t, clockOf);
  const ofRecords =
    postgresClock === undefined
      ? []
      : [
          {
            name: 'PostgreSQL',
            clock: postgresClock,
            isOfSessions: false,
            disturbs: ['records' as const],
          },
        ];
  return {
    stores: { records: `${postgres.url}?schema=model`, sessions: sessions.url },
    faults: [...records, ...sessions.faults],
    clocks: [...ofRecords, ...sessions.clocks],
    sessionClock: 'store',
  };
}

type ClockOf = (store: string) => MovableClock | undefined;

/** Where sessions are, if not in a file. */
interface SessionStore {
  readonly url: string;
  readonly faults: readonly StoreFault[];
  readonly clocks: readonly StoreClock[];
}

const startSessions: Record<
  Exclude<ArrangementName, 'sqlite'>,
  (t: Test, clockOf: ClockOf) => Promise<SessionStore>
> = { 'redis-postgres': oneRedis, sentinel, cluster };

function sqlite(t: Test, folder: string): Arrangement {
  const data = join(folder, 'data');
  mkdirSync(data);
  const disk = mountDisk(t, data, '64m');
  const lock =
    (file: string): StoreFault['run'] =>
    async (durationMs) => {
      const holder = await holdWriteLock(t, join(data, file), durationMs);
      if (holder.exitCode === null) await new Promise((resolve) => holder.once('exit', resolve));
    };
  const faults: StoreFault[] = [
    { kind: 'the records are locked', disturbs: ['records'], run: lock('records.db') },
    { kind: 'the sessions are locked', disturbs: ['sessions'], run: lock('sessions.db') },
  ];
  if (disk)
    faults.push({
      kind: 'the disk is full',
      disturbs: ['records', 'sessions'],
      run: (durationMs) => filled(join(data, 'filler'), durationMs),
    });
  return {
    stores: {
      records: `sqlite:${join(data, 'records.db')}`,
      sessions: `sqlite:${join(data, 'sessions.db')}`,
    },
    faults,
    clocks: [],
    sessionClock: 'gateways',
  };
}

/** Writes a file until there is no room, and removes it after a while. */
async function filled(file: string, durationMs: number): Promise<void> {
  const descriptor = openSync(file, 'w');
  try {
    for (const bytes of [2 ** 20, 4096, 1]) {
      const piece = Buffer.alloc(bytes);
      try {
        for (;;) writeSync(descriptor, piece);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
    await sleep(durationMs);
  } finally {
    closeSync(descriptor);
    rmSync(file);
  }
}

const durable = ['appendonly yes', 'appendfsync always'];

/** A Redis that has on disk what it acknowledged: nothing is lost when it is killed. */
async function oneRedis(t: Test, clockOf: ClockOf): Promise<SessionStore> {
  const folder = makeTemporaryFolder('postern-model-redis-');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const clock = clockOf('Redis');
  const config = [...durable, `dir "${folder}"`];
  const redis = await startRedis(t, { config, env: clock?.env });
  const faults: StoreFault[] = [
    { kind: 'Redis is paused', disturbs: ['sessions'], run: paused(redis) },
    { kind: 'Redis is killed', disturbs: ['sessions'], run: killed(redis) },
  ];
  const clocks = clock === undefined ? [] : [{ name: 'Redis', clock, isOfSessions: true }];
  return { url: redis.url, faults, clocks };
}

/** The clocks of both servers are set: sessions go by that of the master. */
async function sentinel(t: Test, clockOf: ClockOf): Promise<SessionStore> {
  const ofNodes = [0, 1].map((node) => ({ name: `Redis ${node}`, clock: clockOf(`Redis ${node}`) }));
  const group = await startRedisSentinels(t, (node) => ofNodes[node]?.clock?.env);
  const failover = (how: 'kill' | 'pause') => async () => {
    const old = await group.master();
    await group.failover(how);
    if (how === 'kill') await old.restart();
    else old.resume();
    await group.settled();
  };
  const faults: StoreFault[] = [
    { kind: "Sentinel's master is killed", disturbs: ['sessions'], loses: true, run: failover('kill') },
    { kind: "Sentinel's master is paused", disturbs: ['sessions'], loses: true, run: failover('pause') },
  ];
  const clocks = ofNodes.flatMap(({ name, clock }) =>
    clock === undefined ? [] : [{ name, clock, isOfSessions: true }],
  );
  return { url: group.url, faults, clocks };
}

/**
 * The clocks of its nodes are off and stay so: nodes whose clock is set take all others for gone. Its nodes keep their data:
 * a master that was back, empty, before its replica took over would empty that, too.
 */
async function cluster(t: Test, clockOf: ClockOf): Promise<SessionStore> {
  const group = await startRedisCluster(t, (node) => ({
    config: durable,
    env: clockOf(`Redis ${node}`)?.env,
  }));
  const end = (how: 'kill' | 'pause') => async (durationMs: number, random: Random) => {
    const node = await group.masterOf(`postern:acme:session:{${random.below(1_000)}}`);
    if (how === 'kill') await node.kill();
    else node.pause();
    await sleep(durationMs);
    if (how === 'kill') await node.restart();
    else node.resume();
    await group.settled();
  };
  const faults: StoreFault[] = [
    { kind: 'a master of the cluster is killed', disturbs: ['sessions'], loses: true, run: end('kill') },
    { kind: 'a master of the cluster is paused', disturbs: ['sessions'], loses: true, run: end('pause') },
  ];
  return { url: group.url, faults, clocks: [] };
}

interface Server {
  pause(): void;
  resume(): void;
  kill(): Promise<void>;
  restart(): Promise<void>;
}

function paused(server: Server): StoreFault['run'] {
  return async (durationMs) => {
    server.pause();
    await sleep(durationMs);
    server.resume();
  };
}

function killed(server: Server): StoreFault['run'] {
  return async (durationMs) => {
    await server.kill();
    await sleep(durationMs / 4);
    await server.restart();
  };
}
