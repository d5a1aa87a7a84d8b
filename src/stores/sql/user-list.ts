import type { ListPage } from '../list-query.ts';
import type { UserFilterField, UserQuery, UserRecord } from '../user-records.ts';
import type { Condition, Dialect } from './dialect.ts';
import { createList } from './list.ts';
import { type FilterColumn, fieldConditions } from './list-conditions.ts';
import type { Steps } from './steps.ts';
import { selectUserRecord, toUserRecord, type UserRecordRow } from './user-record-row.ts';

const lastLoginOrder = { column: 'u.last_login_order', nullValue: -Number.MAX_SAFE_INTEGER };
const columns: Readonly<Record<Exclude<UserFilterField, 'scope_sets'>, FilterColumn>> = {
  username: { column: 'u.username', equals: 'u.canonical_name = ?' },
  email: { column: 'u.email' },
  kind: { column: 'u.kind' },
  disabled: { column: 'u.disabled' },
  managed: { column: 'u.managed' },
  created: { column: 'u.created' },
  last_login: { column: 'u.last_login', order: lastLoginOrder },
};
/** Condition without the view `held_scope_sets`: PostgreSQL would sort all holders of the set, to name each of them once. */
const holdsSet = `(u.id IN (SELECT user_id FROM user_scope_sets WHERE set_id = ?)
  OR u.id IN (SELECT i.user_id FROM identities i JOIN identity_scope_sets s ON s.issuer = i.issuer AND s.subject = i.subject
    WHERE s.set_id = ?))`;
/** Condition that is looked up user by user, where only the first of many holders of the set are wanted. */
const holdsSetInOrder = `((SELECT 1 FROM user_scope_sets s WHERE s.user_id = u.id AND s.set_id = ?) = 1
  OR (SELECT 1 FROM identities i JOIN identity_scope_sets s ON s.issuer = i.issuer AND s.subject = i.subject
    WHERE i.user_id = u.id AND s.set_id = ? LIMIT 1) = 1)`;

/** Builds the list of users: steps that read one page, all of one moment. */
export function createUserList(dialect: Dialect): (query: UserQuery) => Steps<ListPage<UserRecord>> {
  return createList<UserQuery, UserRecordRow, UserRecord>(dialect, {
    from: 'users u',
    select: selectUserRecord(dialect),
    countAll: dialect.countRows('users'),
    id: 'u.id',
    row: 'u.id',
    order: {
      created: { column: 'u.created' },
      username: { column: 'u.username' },
      last_login: lastLoginOrder,
    },
    conditions: (query) => conditionsOf(dialect, query),
    toItem: toUserRecord,
  });
}

function conditionsOf(dialect: Dialect, { filters }: UserQuery): readonly Condition[] {
  return filters.flatMap(({ field, operator, value }): readonly Condition[] => {
    if (field !== 'scope_sets') return fieldConditions(dialect, columns, [{ field, operator, value }]);
    return [value].flat().map((id) => ({
      sql: holdsSet,
      values: [String(id), String(id)],
      inOrder: holdsSetInOrder,
    }));
  });
}
