import type { Statement } from 'better-sqlite3';
import type { SqlDatabase } from '../sql/database.ts';
import type { Dialect } from '../sql/dialect.ts';
import { type Query, run, type Steps, type Value } from '../sql/steps.ts';
import type { Connection } from './connection.ts';

/** SQLite's dialect. */
export const sqliteDialect: Dialect = {
  keyRow: 'rowid',
  position: 'instr',
  // LIKE folds only ASCII.
  contains: (column, part) => ({
    sql: `${column} LIKE ? ESCAPE '\\'`,
    values: [`%${part.replace(/[\\%_]/g, '\\$&')}%`],
  }),
  tuple: 'json_array',
  json: (column) => `json(${column})`,
  arrayOf: (value, order) => `json_group_array(${value}${order === undefined ? '' : ` ORDER BY ${order}`})`,
  countRows: (table) => `SELECT count(*) AS total FROM ${table}`,
  elementsOf: (array) => `json_each(${array})`,
};

type Prepare = (sql: string) => Statement<Value[]>;

/** A SQLite file as the database of a store, synchronous except for writes; `now` is the clock, in epoch milliseconds. */
export function createSqliteDatabase(
  { db, read, write, noteChange }: Connection,
  now: () => number,
): SqlDatabase {
  const statements = new Map<string, Statement<Value[]>>();

  const prepareOnce: Prepare = (sql) => db.prepare(sql);
  const prepare: Prepare = (sql) => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = prepareOnce(sql);
      statements.set(sql, statement);
    }
    return statement;
  };

  function follow<T>(steps: Steps<T>, prepare: Prepare): T {
    let step = steps.next();
    while (!step.done) {
      if ('changed' in step.value) noteChange();
      step = steps.next('changed' in step.value ? [] : query(prepare(step.value.sql), step.value));
    }
    return step.value;
  }

  return {
    dialect: sqliteDialect,
    one: <Row, T>(sql: string, values: readonly Value[], parse: (row: Row | undefined) => T) =>
      parse(read(() => prepare(sql).get(...values) as Row | undefined)),
    many: <Row, T>(sql: string, values: readonly Value[], parse: (rows: readonly Row[]) => T) =>
      parse(read(() => prepare(sql).all(...values) as Row[])),
    snapshot: (steps) => read(db.transaction(() => follow(steps(), prepareOnce))),
    write: (steps) => write(() => follow(steps(), prepare)),
    *noteRewrite() {
      yield* run('UPDATE scrub SET is_due = 1');
    },
    // biome-ignore lint/correctness/useYield: a file has no clock to ask
    *time() {
      return now();
    },
  };
}

function query(statement: Statement<Value[]>, { values }: Query): readonly unknown[] {
  if (statement.reader) return statement.all(...values);
  statement.run(...values);
  return [];
}
