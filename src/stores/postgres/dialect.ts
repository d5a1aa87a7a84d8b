import type { Dialect } from '../sql/dialect.ts';

/** PostgreSQL's dialect. */
export const postgresDialect: Dialect = {
  keyRow: 'id',
  position: 'strpos',
  // With the collation "C", which all columns have, lower() folds only ASCII.
  contains: (column, part) => ({
    sql: `strpos(lower(${column}), ?) > 0`,
    values: [part.replace(/[A-Z]/g, (letter) => letter.toLowerCase())],
  }),
  tuple: 'json_build_array',
  json: (column) => `${column}::json`,
  arrayOf: (value, order) =>
    `coalesce(json_agg(${value}${order === undefined ? '' : ` ORDER BY ${order}`}), '[]')::text`,
  elementsOf: (array) => `json_array_elements_text(${array}::json)`,
};
