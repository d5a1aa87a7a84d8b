import { createHash } from 'node:crypto';
import type { ApiKeyFilterField, ApiKeyQuery, ApiKeySortField } from '../../src/stores/api-key.ts';
import type { AuditFilterField } from '../../src/stores/audit.ts';
import type { FieldFilter, ListPosition, SortValue } from '../../src/stores/list-query.ts';
import type { UserFilterField, UserSortField } from '../../src/stores/user-records.ts';
import { startOfTime } from './fixtures.ts';
import { type ListCase, type ManyRecords, manyCount, maxSearchMs } from './many-records.ts';

const day = 86_400_000;
const now = startOfTime + 50 * day;
const indices = Array.from({ length: manyCount }, (_, index) => index);
const spread = (index: number) => (index * 7_919) % manyCount;
const padded = (index: number) => String(index).padStart(6, '0');
const hex = (id: string) => createHash('sha256').update(id).digest('hex');

interface UserRow {
  readonly id: string;
  readonly username: string;
  readonly email: string | null;
  readonly kind: string;
  readonly disabled: number;
  readonly created: number;
  readonly last_login: number | null;
  readonly hasSet: boolean;
}

const userRows: readonly UserRow[] = indices.map((index) => ({
  id: `user-${padded(index)}`,
  username: `Name ${padded(spread(index))}`,
  email: index % 3 === 0 ? null : `u${index}@example.com`,
  kind: index % 10 === 0 ? 'service' : 'person',
  disabled: index % 100 === 0 ? 1 : 0,
  created: startOfTime + Math.floor(spread(index) / 3),
  last_login: index % 3 === 0 ? null : startOfTime + index,
  hasSet: index % 2 === 0,
}));

interface KeyRow {
  readonly id: string;
  readonly label: string;
  readonly scopes: readonly string[];
  readonly created: number;
  readonly created_by: string;
  readonly expires: number | null;
  readonly last_used: number | null;
}

const keyRows: readonly KeyRow[] = indices.map((index) => ({
  // In no order.
  id: `${hex(`key ${index}`).slice(0, 24)}-${padded(index)}`,
  label: `key ${padded(spread(index))}`,
  scopes: index % 5 ? ['store:read'] : ['store:read', 'store:write'],
  created: startOfTime + (spread(index) % 100) * day,
  created_by: `user-${padded(index % 50)}`,
  expires: index % 2 ? null : startOfTime + (spread(index) % 200) * day,
  last_used: index % 3 ? null : startOfTime + spread(index),
}));

interface EventRow {
  readonly seq: number;
  readonly id: string;
  readonly time: number;
  readonly event: string;
  readonly outcome: string;
  readonly actor_user: string | null;
  readonly target_id: string;
  readonly address: string;
  readonly request_id: string;
}

const events = ['login_succeeded', 'session_revoked', 'request_refused', 'api_key_created', 'user_changed'];
const eventRows: readonly EventRow[] = indices.map((index) => ({
  seq: index + 1,
  id: `event-${padded(index)}`,
  time: startOfTime + Math.floor(index / 3),
  event: events[index % 5]!,
  outcome: index % 5 === 2 ? 'failure' : 'success',
  // One user has done most of it.
  actor_user: index % 7 === 0 ? null : index % 10 === 0 ? `user-${index % 50}` : 'user-1',
  target_id: `target-${index % 1_000}`,
  address: `192.0.2.${index % 250}`,
  request_id: `request-${Math.floor(index / 2)}`,
}));

/** The positions of the rows that match, in order; null is at the far end: the last of what expires, the first of the rest. */
function positionsOf<Row extends { readonly id: string }>(
  rows: readonly Row[],
  matches: (row: Row) => boolean,
  sortedBy: (row: Row) => SortValue,
  nullValue = Number.NEGATIVE_INFINITY,
): ListPosition[] {
  const compare = (one: SortValue, other: SortValue) => {
    const [left, right] = [one ?? nullValue, other ?? nullValue];
    return left === right ? 0 : left < right ? -1 : 1;
  };
  return rows
    .filter(matches)
    .map((row) => ({ value: sortedBy(row), id: row.id }))
    .sort((one, other) => compare(one.value, other.value) || compare(one.id, other.id));
}

const keyFilter = (
  field: ApiKeyFilterField,
  operator: FieldFilter['operator'],
  value: FieldFilter['value'],
): ApiKeyQuery['filters'] => [{ field, operator, value }];
const keyFilters: readonly [string, ApiKeyQuery['filters'], (row: KeyRow) => boolean][] = [
  ['all', [], () => true],
  [
    'a part of few labels',
    keyFilter('label', 'contains', 'KEY 0001'),
    ({ label }) => label.startsWith('key 0001'),
  ],
  [
    'created',
    keyFilter('created', 'lt', startOfTime + 20 * day),
    ({ created }) => created < startOfTime + 20 * day,
  ],
  [
    'expiry',
    keyFilter('expires', 'gte', startOfTime + 90 * day),
    ({ expires }) => expires === null || expires >= startOfTime + 90 * day,
  ],
  ['use', keyFilter('last_used', 'isnull', false), ({ last_used }) => last_used !== null],
  ['no end', keyFilter('expires', 'isnull', true), ({ expires }) => expires === null],
  [
    'a scope',
    keyFilter('scopes', 'contains', ['store:write']),
    ({ scopes }) => scopes.includes('store:write'),
  ],
  ['owner', keyFilter('created_by', 'eq', 'user-000007'), ({ created_by }) => created_by === 'user-000007'],
  ['expired', keyFilter('status', 'eq', 'expired'), ({ expires }) => expires !== null && expires <= now],
  [
    'suspended',
    keyFilter('status', 'eq', 'suspended'),
    ({ expires, created_by }) => (expires === null || expires > now) && created_by === 'user-000000',
  ],
];
const keyFields: Readonly<Record<ApiKeySortField, keyof KeyRow>> = {
  created: 'created',
  label: 'label',
  expires: 'expires',
  last_used: 'last_used',
};

/** API keys of fifty users, one of whom is disabled. */
export function manyKeys(): ManyRecords {
  const cases = Object.entries(keyFields).flatMap(([sort, field]) =>
    keyFilters.map(([filter, filters, matches]): ListCase => {
      const sortBy = sort as ApiKeySortField;
      const nullValue = sortBy === 'expires' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
      return {
        name: `by ${sort}, ${filter}`,
        isFiltered: filter !== 'all',
        ...(filters.some(({ operator }) => operator === 'contains') && { maxMs: maxSearchMs }),
        list: (store, page) => store.listApiKeys({ sortBy, sortOrder: 'asc', filters, now, ...page }),
        idOf: ({ key }) => key.id,
        expected: positionsOf(keyRows, matches, (row) => row[field] as SortValue, nullValue),
      };
    }),
  );
  const owners = userRows.slice(0, 50).map(userRowOf);
  const api_keys = keyRows.map(({ scopes, ...row }) => ({
    ...row,
    hash: `\\x${hex(row.id)}`,
    hint: 'pst_abcd',
    scopes: JSON.stringify(scopes),
  }));
  return { what: `${manyCount} keys`, rows: { users: owners, api_keys }, cases };
}

type UserFilters = readonly FieldFilter<UserFilterField>[];
const userFilter = (
  field: UserFilterField,
  operator: FieldFilter['operator'],
  value: FieldFilter['value'],
): UserFilters => [{ field, operator, value }];
const userFilters: readonly [string, UserFilters, (row: UserRow) => boolean][] = [
  ['all', [], () => true],
  ['a name', userFilter('username', 'contains', 'ame 0001'), ({ username }) => username.includes('ame 0001')],
  ['no address', userFilter('email', 'isnull', true), ({ email }) => email === null],
  ['people', userFilter('kind', 'eq', 'person'), ({ kind }) => kind === 'person'],
  ['disabled', userFilter('disabled', 'eq', true), ({ disabled }) => disabled === 1],
  ['created', userFilter('created', 'lt', startOfTime + 200), ({ created }) => created < startOfTime + 200],
  ['never signed in', userFilter('last_login', 'isnull', true), ({ last_login }) => last_login === null],
  ['a set', userFilter('scope_sets', 'contains', ['administrator']), ({ hasSet }) => hasSet],
];

function userRowOf({ hasSet: _, ...row }: UserRow): object {
  const { username, created } = row;
  return { ...row, canonical_name: username.toLowerCase(), scopes: '[]', updated: created };
}

/** Users, half of whom hold one set. */
export function manyUsers(): ManyRecords {
  const fields: readonly UserSortField[] = ['created', 'username', 'last_login'];
  const cases = fields.flatMap((sortBy) =>
    userFilters.map(
      ([filter, filters, matches]): ListCase => ({
        name: `by ${sortBy}, ${filter}`,
        isFiltered: filter !== 'all',
        ...(filter === 'a name' && { maxMs: maxSearchMs }),
        // Half of all users have to be counted as its holders.
        ...(filter === 'a set' && { maxMs: 120 }),
        list: (store, page) => store.listUserRecords({ sortBy, sortOrder: 'asc', filters, ...page }),
        idOf: ({ user }) => user.id,
        expected: positionsOf(userRows, matches, (row) => row[sortBy]),
      }),
    ),
  );
  const user_scope_sets = userRows
    .filter(({ hasSet }) => hasSet)
    .map(({ id }) => ({ user_id: id, set_id: 'administrator' }));
  return { what: `${manyCount} users`, rows: { users: userRows.map(userRowOf), user_scope_sets }, cases };
}

const is = (field: AuditFilterField, value: string): FieldFilter<AuditFilterField>[] => [
  { field, operator: 'eq', value },
];
const eventFilters: readonly [
  string,
  readonly FieldFilter<AuditFilterField>[],
  (row: EventRow) => boolean,
][] = [
  ['all', [], () => true],
  ['an event', is('event', 'user_changed'), ({ event }) => event === 'user_changed'],
  ['an outcome', is('outcome', 'success'), ({ outcome }) => outcome === 'success'],
  ['the user who did most', is('actor', 'user-1'), ({ actor_user }) => actor_user === 'user-1'],
  ['a user who did little', is('actor', 'user-20'), ({ actor_user }) => actor_user === 'user-20'],
  ['the session of all', is('actor', 'session-1'), () => true],
  ['a target', is('target', 'target-77'), ({ target_id }) => target_id === 'target-77'],
  ['an address', is('address', '192.0.2.9'), ({ address }) => address === '192.0.2.9'],
  ['a request', is('request_id', 'request-800'), ({ request_id }) => request_id === 'request-800'],
  [
    'a time',
    [{ field: 'time', operator: 'gte', value: startOfTime + 500 }],
    ({ time }) => time >= startOfTime + 500,
  ],
];

/** Audit events, most of which one user did, and one session all. */
export function manyEvents(): ManyRecords {
  const cases = eventFilters.map(([filter, filters, matches]): ListCase => {
    const matching = eventRows.filter(matches);
    return {
      name: filter,
      isFiltered: filter !== 'all',
      list: (store, page) => store.listAuditEvents({ sortBy: 'time', sortOrder: 'asc', filters, ...page }),
      idOf: ({ id }) => id,
      expected: matching.map(({ seq, id }) => ({ value: seq, id })),
    };
  });
  const audit = eventRows.map((row) => ({
    ...row,
    actor_kind: 'session',
    actor_credential: 'session-1',
    target_type: 'user',
    is_probe: 0,
    body: '{"changes":null}',
  }));
  return { what: `${manyCount} audit events`, rows: { audit }, cases };
}
