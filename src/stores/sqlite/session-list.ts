import type { Comparison, ListPage } from '../list-query.ts';
import type { Session, SessionQuery } from '../sessions.ts';
import type { Condition } from '../sql/dialect.ts';
import { comparisonOperators, createList } from '../sql/list.ts';
import type { Steps } from '../sql/steps.ts';
import { sqliteDialect } from './dialect.ts';
import { type SessionRow, sessionColumns } from './session-statements.ts';
import { toSession } from './session-steps.ts';

/** Builds the list of live sessions: steps that read one page in one snapshot; `now` is the store's clock. */
export function createSessionList(now: () => number): (query: SessionQuery) => Steps<ListPage<Session>> {
  return createList<SessionQuery, SessionRow, Session>(sqliteDialect, {
    from: 'sessions',
    select: `SELECT ${sessionColumns} FROM sessions`,
    id: 'id',
    row: 'id',
    order: { created: { column: 'created' }, last_used: { column: 'last_used' } },
    conditions: (query) => conditionsOf(query, now()),
    toItem: toSession,
  });
}

/**
 * Each can be counted in an index of its own. In list order they are only checked: `+` keeps SQLite from sorting all that
 * match instead.
 */
function conditionsOf({ sortBy, filters }: SessionQuery, now: number): readonly Condition[] {
  const { userId, method, range = {} } = filters;
  const equals = (column: string, value: string | undefined): readonly Condition[] =>
    value === undefined ? [] : [{ sql: `${column} = ?`, inOrder: `+${column} = ?`, values: [value] }];
  return [
    ...equals('user_id', userId),
    ...equals('method', method),
    { sql: 'expires > ?', inOrder: '+expires > ?', values: [now] },
    ...Object.entries(range).map(([comparison, instant]) => ({
      sql: `${sortBy} ${comparisonOperators[comparison as Comparison]} ?`,
      values: [instant],
    })),
  ];
}
