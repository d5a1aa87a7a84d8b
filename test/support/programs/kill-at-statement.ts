import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import pg from 'pg';
import type { KilledServer, KillPlan } from '../administration/kill-points.ts';
import { isRunning, signalEach, stopFamily } from '../gateway/process-family.ts';

/**
 * Loaded into a gateway before its program: watches the statements of the next transaction that writes the records, once
 * a {@link KillPlan} lies in the file of `KILL_PLAN`, writes down those that were reached, and kills the gateway or its
 * server, as a crash would, at the statement that the plan names.
 */
const planFile = process.env.KILL_PLAN!;
const watched = new WeakMap<object, WatchedTransaction>();

class WatchedTransaction {
  readonly #plan: KillPlan;
  readonly #backend: number | undefined;
  readonly #reached: string[] = [];
  #hasStruck = false;

  /** `backend`: the process of the server that runs it. */
  constructor(plan: KillPlan, backend: number | undefined) {
    this.#plan = plan;
    this.#backend = backend;
  }

  /** Called right before a statement is run. */
  before(sql: string): void {
    if (this.#hasStruck) return;
    if (this.#reached.length === 0) for (const pid of this.#plan.pauses) process.kill(pid, 'SIGSTOP');
    this.#reached.push(sql);
    if (this.#plan.at === this.#reached.length) this.#strike();
  }

  /** Called once the last one is done. */
  over(): void {
    if (this.#hasStruck) return;
    if (this.#plan.at === this.#reached.length + 1) this.#strike();
    this.#note();
  }

  /** Called when the last one was sent, and not answered yet. */
  sent(): void {
    if (this.#plan.at === 'sent') this.#strike();
  }

  #strike(): void {
    this.#note();
    this.#hasStruck = true;
    if (this.#plan.server === null) process.kill(process.pid, 'SIGKILL');
    else killServer(this.#plan.server, this.#backend!);
  }

  #note(): void {
    writeFileSync(`${planFile}.reached`, JSON.stringify(this.#reached));
  }
}

/** Returns when it runs nothing any more. */
function killServer({ pid, how }: KilledServer, backend: number): void {
  if (how === 'crash') signalEach(stopFamily(pid), 'SIGKILL');
  else if (how === 'immediate') process.kill(pid, 'SIGQUIT');
  else process.kill(backend, 'SIGKILL');
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  while (isRunning(backend)) Atomics.wait(sleeper, 0, 0, 1);
}

/** Takes the plan, if there is one and it is about this transaction. */
function begin(connection: object, backend?: number): void {
  if (!existsSync(planFile)) return;
  const plan: KillPlan = JSON.parse(readFileSync(planFile, 'utf8'));
  watched.set(connection, new WatchedTransaction(plan, backend));
  rmSync(planFile);
}

const isEnd = (sql: string) => sql === 'COMMIT' || sql === 'ROLLBACK';

const anyStatement = new Database(':memory:').prepare('SELECT 1');
const statements: Record<string, unknown> = Object.getPrototypeOf(anyStatement);
for (const name of ['run', 'get', 'all']) {
  const original = statements[name] as (...values: unknown[]) => unknown;
  statements[name] = function (this: Database.Statement, ...values: unknown[]) {
    const { database, source } = this;
    if (source === 'BEGIN IMMEDIATE' && database.name.endsWith('records.db')) begin(database);
    const transaction = watched.get(database);
    if (transaction === undefined) return original.apply(this, values);
    transaction.before(source);
    const result = original.apply(this, values);
    if (isEnd(source)) {
      transaction.over();
      watched.delete(database);
    }
    return result;
  };
}

const clients = pg.Client.prototype as unknown as Record<string, unknown>;
const query = clients.query as (...values: unknown[]) => Promise<unknown>;
clients.query = function (this: { readonly processID: number }, ...values: unknown[]) {
  const [first] = values as [string | { readonly text: string }];
  const sql = typeof first === 'string' ? first : first.text;
  if (sql.startsWith('BEGIN ISOLATION LEVEL READ COMMITTED')) begin(this, this.processID);
  const transaction = watched.get(this);
  if (transaction === undefined) return query.apply(this, values);
  transaction.before(sql);
  const result = query.apply(this, values);
  if (isEnd(sql)) {
    watched.delete(this);
    transaction.sent();
    return result.then((rows) => {
      transaction.over();
      return rows;
    });
  }
  return result;
};
