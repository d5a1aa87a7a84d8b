import type { ListPage } from '../list-query.ts';
import type { UserFilterField, UserQuery, UserRecord } from '../user-records.ts';
import type { Condition, Dialect } from './dialect.ts';
import { createList } from './list.ts';
import { type FilterColumn, fieldConditions } from './list-conditions.ts';
import type { Steps } from './steps.ts';
import { selectUserRecord, toUserRecord, type UserRecordRow } from './user-record-row.ts';

const columns: Readonly<Record<Exclude<UserFilterField, 'scope_sets'>, FilterColumn>> = {
  username: { column: 'u.username', equals: 'u.canonical_name = ?' },
  email: { column: 'u.email' },
  kind: { column: 'u.kind' },
  disabled: { column: 'u.disabled' },
  managed: { column: 'u.managed' },
  created: { column: 'u.created' },
  last_login: { column: 'u.last_login', compared: 'u.last_login_order' },
};
const holdsSet = 'u.id IN (SELECT user_id FROM held_scope_sets WHERE set_id = ?)';

/** Builds the list of users: steps that read one page, all of one moment. */
export function createUserList(dialect: Dialect): (query: UserQuery) => Steps<ListPage<UserRecord>> {
  return createList<UserQuery, UserRecordRow, UserRecord>(dialect, {
    from: 'users u',
    select: selectUserRecord(dialect),
    id: 'u.id',
    row: 'u.id',
    order: {
      created: { column: 'u.created' },
      username: { column: 'u.username' },
      last_login: { column: 'u.last_login_order', nullValue: -Number.MAX_SAFE_INTEGER },
    },
    conditions: (query) => conditionsOf(dialect, query),
    toItem: toUserRecord,
  });
}

function conditionsOf(dialect: Dialect, { filters }: UserQuery): readonly Condition[] {
  return filters.flatMap(({ field, operator, value }): readonly Condition[] => {
    if (field !== 'scope_sets') return fieldConditions(dialect, columns, [{ field, operator, value }]);
    return [value].flat().map((id) => ({ sql: holdsSet, values: [String(id)] }));
  });
}
