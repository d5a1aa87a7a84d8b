import type { Cursors } from '../../credentials/cursor.ts';
import { Refusal } from '../../errors.ts';
import { entityTagOf } from '../../http/if-match.ts';
import { canonicalAccountName } from '../../rules/account-name.ts';
import type { ListPosition } from '../../stores/list-query.ts';
import type { UserQuery, UserRecord, UserRecords, UserSortField } from '../../stores/user-records.ts';
import type { Endpoint } from '../endpoint.ts';
import { createListRequests } from '../lists/list-request.ts';
import { describeList } from '../lists/list-spec.ts';
import { type PresentUserOptions, presentUser } from './present-user.ts';
import { userListSpec } from './user-schemas.ts';

const guard = { scopes: ['users:read'] } as const;

/** `GET /api/admin/users/`: one page of the users. */
export function createUserList(
  options: PresentUserOptions & {
    readonly records: Pick<UserRecords, 'listUserRecords'>;
    readonly cursors: Cursors;
  },
): Endpoint {
  const readRequest = createListRequests(userListSpec, options.cursors);
  return {
    method: 'GET',
    path: '/api/admin/users',
    guard,
    async handle({ exchange }) {
      const { query, body } = readRequest(exchange.query);
      const page = await options.records.listUserRecords(storeQuery(query as UserQuery));
      return {
        status: 200,
        body: body(page, {
          positionOf: (record) => positionOf(record, query.sortBy),
          present: (record) => presentUser(record, options),
        }),
      };
    },
  };
}

/** `GET /api/admin/users/filters`: what the list can be filtered and sorted by. */
export function createUserFilters(): Endpoint {
  const body = describeList(userListSpec);
  return {
    method: 'GET',
    path: '/api/admin/users/filters',
    guard,
    handle: async () => ({ status: 200, body }),
  };
}

/** `GET /api/admin/users/{id}`. */
export function createUserRead(
  options: PresentUserOptions & { readonly records: Pick<UserRecords, 'findUserRecord'> },
): Endpoint {
  return {
    method: 'GET',
    path: '/api/admin/users/{id}',
    guard,
    async handle({ id }) {
      const found = await options.records.findUserRecord(id);
      if (found === undefined) throw new Refusal('not_found');
      return { status: 200, headers: ['ETag', entityTagOf(found.user)], body: presentUser(found, options) };
    },
  };
}

/** The store looks names up by their canonical form. */
function storeQuery(query: UserQuery): UserQuery {
  const filters = query.filters.map((filter) =>
    filter.field === 'username' && filter.operator === 'eq'
      ? { ...filter, value: canonicalAccountName(String(filter.value)) }
      : filter,
  );
  return { ...query, filters };
}

function positionOf({ user }: UserRecord, sortBy: UserSortField): ListPosition {
  const { id, created, username, lastLogin } = user;
  return { value: { created, username, last_login: lastLogin }[sortBy], id };
}
