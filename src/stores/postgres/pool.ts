import { type ClientConfig, Pool, type PoolClient, type QueryConfig } from 'pg';
import type { PoolLoad } from '../../metrics/pool-load.ts';
import type { Value } from '../sql/steps.ts';
import { timedOutReason, within } from '../timeout.ts';
import { CheckedClient } from './checked-client.ts';
import { asRefusal, PostgresFailure, toFailure, unavailable } from './failures.ts';

/** One connection, for the time of one call. All methods reject with a {@link PostgresFailure}. */
export interface Session {
  /** Asks one statement; each `?` stands for the next value. Gives its rows. */
  query(sql: string, values?: readonly PostgresValue[]): Promise<readonly unknown[]>;
  /** Asks several statements without values, separated by semicolons. */
  execute(sql: string): Promise<void>;
}

/** Lists go to `unnest`. */
export type PostgresValue = Value | readonly string[] | readonly number[];

/** Connections that are used in turn. */
export interface SessionPool {
  /**
   * Calls `work` with a connection. Rejects `store_unavailable` when that can't be had and done within the time, or at
   * once when too many wait.
   */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>;
  load(): PoolLoad;
  close(): Promise<void>;
}

/** Counts how often the server turned out not to be the one to ask: connections made before that are not used again. */
export interface Epoch {
  current: number;
}

export interface SessionPoolOptions {
  readonly config: ClientConfig;
  /** How many connections at most. */
  readonly max: number;
  /** How long one call may take in all, ms. */
  readonly timeoutMs: number;
  /** Shared by all pools to a server. */
  readonly epoch: Epoch;
  /** What is done changes nothing, so where the connection is lost it is done again on a new one; default false. */
  readonly repeats?: boolean;
}

/** Some milliseconds of work each; more would only wait for their time to run out. */
const maxWaiting = 128;
const idleTimeoutMs = 30_000;
/** What it takes to connect and ask. */
const repeatMs = 100;

const timedOut = () => new PostgresFailure('gone', undefined, timedOutReason);
const ignore = () => {};

/** Opens a pool; it connects when it is first used. */
export function openSessionPool({
  config,
  max,
  timeoutMs,
  epoch,
  repeats = false,
}: SessionPoolOptions): SessionPool {
  const pool = new Pool({ ...config, Client: CheckedClient, max, idleTimeoutMillis: idleTimeoutMs });
  const born = new WeakMap<PoolClient, number>();
  pool.on('error', ignore);
  pool.on('connect', (client) => {
    born.set(client, epoch.current);
    // An error between two queries is met by the next one; without a listener it would end the process.
    client.on('error', ignore);
  });

  /** A connection that nothing speaks against: after a fail-over all others are connected to the wrong server. */
  async function checkOut(deadline: number): Promise<PoolClient> {
    for (;;) {
      const client = await connectBefore(pool, deadline);
      if (born.get(client) === epoch.current) return client;
      client.release(true);
    }
  }

  async function useOnce<T>(work: (session: Session) => Promise<T>, deadline: number): Promise<T> {
    let client: PoolClient | undefined;
    let failure: PostgresFailure | undefined;
    const onFailure = (found: PostgresFailure) => {
      if (found.kind === 'busy' || found.kind === 'gone') failure = found;
    };
    try {
      client = await checkOut(deadline);
      return await work(createSession(client, deadline, onFailure));
    } finally {
      // Not at a connection that could not be made: that the others are good is not in doubt.
      if (failure?.kind === 'gone') epoch.current += 1;
      client?.release(failure !== undefined);
    }
  }

  return {
    async use(work) {
      if (pool.waitingCount >= maxWaiting) throw unavailable('too many wait');
      const deadline = performance.now() + timeoutMs;
      try {
        return await useOnce(work, deadline).catch((error) => {
          const isLost = error instanceof PostgresFailure && error.kind === 'gone';
          if (!repeats || !isLost || performance.now() > deadline - repeatMs) throw error;
          return useOnce(work, deadline);
        });
      } catch (error) {
        throw asRefusal(error);
      }
    },
    load: () => ({
      busy: pool.totalCount - pool.idleCount,
      free: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: () => pool.end(),
  };
}

async function connectBefore(pool: Pool, deadline: number): Promise<PoolClient> {
  const connecting = pool.connect().catch((error) => {
    throw toFailure(error);
  });
  return within(deadline - performance.now(), connecting, () => {
    connecting.then((client) => client.release(), ignore);
    return timedOut();
  });
}

function createSession(
  client: PoolClient,
  deadline: number,
  onFailure: (failure: PostgresFailure) => void,
): Session {
  async function ask(
    text: string,
    values: readonly PostgresValue[] | undefined,
  ): Promise<readonly unknown[]> {
    try {
      const left = Math.ceil(deadline - performance.now());
      if (left <= 0) throw timedOut();
      // It is a setting of pg that its types only know for whole connections.
      const query: QueryConfig & { query_timeout: number } = { text, query_timeout: left };
      if (values !== undefined) query.values = values.map(withoutNul);
      return (await client.query(query)).rows;
    } catch (error) {
      const failure = error instanceof PostgresFailure ? error : toFailure(error);
      onFailure(failure);
      throw failure;
    }
  }

  return {
    query: (sql, values = []) => ask(numberPlaceholders(sql), values),
    async execute(sql) {
      await ask(sql, undefined);
    },
  };
}

function numberPlaceholders(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => `$${++count}`);
}

/** A text with NUL can't be kept, so nothing is equal to it: as to null. */
function withoutNul(value: PostgresValue): PostgresValue {
  return typeof value === 'string' && value.includes('\0') ? null : value;
}
