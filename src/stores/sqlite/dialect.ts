import type { Dialect } from '../sql/dialect.ts';

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
