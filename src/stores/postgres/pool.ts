import { type ClientConfig, Pool, type PoolClient, type QueryConfig } from 'pg';
import type { PoolLoad } from '../../metrics/registry.ts';
import { timedOutReason, within } from '../remote/timeout.ts';
import type { Value } from '../sql/steps.ts';
import { CheckedClient } from './checked-client.ts';
import { asRefusal, PostgresFailure, toFailure, unavailable } from './failures.ts';

/** A connection for the duration of one call. Its methods reject with a {@link PostgresFailure}. */
export interface Session {
  /** Runs one statement and returns its rows; each `?` stands for the next value. */
  query(sql: string, values?: readonly PostgresValue[]): Promise<readonly unknown[]>;
  /** Runs several statements without values, separated by semicolons. */
  execute(sql: string): Promise<void>;
}

/** A parameter of a query; lists are for `unnest`. */
export type PostgresValue = Value | readonly string[] | readonly number[];

/** Number of times that the server was found to be unavailable or read-only: connections made before are not used again. */
export interface Epoch {
  current: number;
}

export interface SessionPoolOptions {
  readonly config: ClientConfig;
  /** The maximum number of connections. */
  readonly max: number;
  /** Timeout of a whole call, including its wait for a connection, ms. */
  readonly timeoutMs: number;
  /** Shared by all pools to a server. */
  readonly epoch: Epoch;
  /** True if a call that loses its connection is repeated on a new one, as that can't do any harm; default false. */
  readonly repeats?: boolean;
}

/** Maximum number of waiting calls, each some milliseconds of work: more would only wait until they time out. */
const maxWaiting = 128;
const idleTimeoutMs = 30_000;
/** Time that a repeated call needs to connect and query, ms. */
const repeatMs = 100;

const timedOut = () => new PostgresFailure('unavailable', undefined, timedOutReason);
const ignore = () => {};

/** A pool of connections, which connects when it is first used. */
export class SessionPool {
  readonly #options: SessionPoolOptions;
  readonly #pool: Pool;
  readonly #epochs = new WeakMap<PoolClient, number>();

  constructor(options: SessionPoolOptions) {
    const { config, max, epoch } = options;
    this.#options = options;
    this.#pool = new Pool({ ...config, Client: CheckedClient, max, idleTimeoutMillis: idleTimeoutMs });
    this.#pool.on('error', ignore);
    this.#pool.on('connect', (client) => {
      this.#epochs.set(client, epoch.current);
      // The next query reports an error between two queries; without a listener it would end the process.
      client.on('error', ignore);
    });
  }

  /**
   * Calls `work` with a connection. Rejects `store_unavailable` when there is none, or the work isn't done, within the
   * timeout, and at once when too many calls are waiting. `timeoutMs` is by default that of the pool.
   */
  async use<T>(work: (session: Session) => Promise<T>, timeoutMs = this.#options.timeoutMs): Promise<T> {
    if (this.#pool.waitingCount >= maxWaiting) throw unavailable('too many queries waiting');
    const deadline = performance.now() + timeoutMs;
    try {
      return await this.#useOnce(work, deadline).catch((error) => {
        const isLost = error instanceof PostgresFailure && error.kind === 'unavailable';
        if (!this.#options.repeats || !isLost || performance.now() > deadline - repeatMs) throw error;
        return this.#useOnce(work, deadline);
      });
    } catch (error) {
      throw asRefusal(error);
    }
  }

  load(): PoolLoad {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { busy: totalCount - idleCount, free: idleCount, waiting: waitingCount };
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #useOnce<T>(work: (session: Session) => Promise<T>, deadline: number): Promise<T> {
    let client: PoolClient | undefined;
    let failure: PostgresFailure | undefined;
    const onFailure = (found: PostgresFailure) => {
      if (found.kind === 'busy' || found.kind === 'unavailable') failure = found;
    };
    try {
      client = await this.#checkOut(deadline);
      return await work(createSession(client, deadline, onFailure));
    } finally {
      // Not when no connection could be made: that says nothing about those that exist.
      if (failure?.kind === 'unavailable') this.#options.epoch.current += 1;
      client?.release(failure !== undefined);
    }
  }

  /** A connection of the current epoch: after a failover all older ones lead to the wrong server. */
  async #checkOut(deadline: number): Promise<PoolClient> {
    for (;;) {
      const client = await connectBefore(this.#pool, deadline);
      if (this.#epochs.get(client) === this.#options.epoch.current) return client;
      client.release(true);
    }
  }
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
  async function send(text: string, values?: readonly PostgresValue[]): Promise<readonly unknown[]> {
    try {
      const remainingMs = Math.ceil(deadline - performance.now());
      if (remainingMs <= 0) throw timedOut();
      // pg supports this setting per query, but its types only know it for whole connections.
      const query: QueryConfig & { query_timeout: number } = { text, query_timeout: remainingMs };
      if (values !== undefined) query.values = values.map(withoutNul);
      return (await client.query(query)).rows;
    } catch (error) {
      const failure = error instanceof PostgresFailure ? error : toFailure(error);
      onFailure(failure);
      throw failure;
    }
  }

  return {
    query: (sql, values = []) => send(numberPlaceholders(sql), values),
    async execute(sql) {
      await send(sql);
    },
  };
}

function numberPlaceholders(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => `$${++count}`);
}

/** The value, or null for a text with NUL: such a text can't be stored, so nothing equals it. */
function withoutNul(value: PostgresValue): PostgresValue {
  return typeof value === 'string' && value.includes('\0') ? null : value;
}
