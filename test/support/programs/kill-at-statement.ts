import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import pg from 'pg';
import type { KillPlan } from '../kill-points.ts';

/**
 * Loaded into a gateway before its program: watches the statements of the next transaction that writes the records, once
 * a {@link KillPlan} lies in the file of `KILL_PLAN`, writes down those that were reached, and ends the gateway as a
 * crash would, at the statement that the plan names.
 */
const planFile = process.env.KILL_PLAN!;
const watched = new WeakMap<object, WatchedTransaction>();

class WatchedTransaction {
  readonly #plan: KillPlan;
  readonly #reached: string[] = [];

  constructor(plan: KillPlan) {
    this.#plan = plan;
  }

  /** Called right before a statement is run. */
  before(sql: string): void {
    if (this.#reached.length === 0) for (const pid of this.#plan.pauses) process.kill(pid, 'SIGSTOP');
    this.#reached.push(sql);
    if (this.#plan.at === this.#reached.length) this.#die();
  }

  /** Called once the last one is done. */
  over(): void {
    if (this.#plan.at === this.#reached.length + 1) this.#die();
    this.#note();
  }

  /** Called when the last one was sent, and not answered yet. */
  sent(): void {
    if (this.#plan.at === 'sent') this.#die();
  }

  #die(): void {
    this.#note();
    for (const pid of this.#plan.kills) process.kill(pid, 'SIGKILL');
    process.kill(process.pid, 'SIGKILL');
  }

  #note(): void {
    writeFileSync(`${planFile}.reached`, JSON.stringify(this.#reached));
  }
}

/** Takes the plan, if there is one. */
function begin(connection: object): void {
  if (!existsSync(planFile)) return;
  watched.set(connection, new WatchedTransaction(JSON.parse(readFileSync(planFile, 'utf8'))));
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
clients.query = function (this: object, ...values: unknown[]) {
  const [first] = values as [string | { readonly text: string }];
  const sql = typeof first === 'string' ? first : first.text;
  if (sql.startsWith('BEGIN ISOLATION LEVEL READ COMMITTED')) begin(this);
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
