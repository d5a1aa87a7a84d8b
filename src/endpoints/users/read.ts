import type { z } from 'zod';
import { presentUser } from '../../administration/present-user.ts';
import { Refusal } from '../../errors.ts';
import { entityTagOf } from '../../http/if-match.ts';
import { canonicalAccountName } from '../../rules/account-name.ts';
import type { ListPosition } from '../../stores/list-query.ts';
import type { UserQuery, UserRecord, UserSortField } from '../../stores/user-records.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { defineFilters } from '../lists/filters.ts';
import { createListRequests } from '../lists/list-request.ts';
import { listQuerySchema } from '../lists/list-spec.ts';
import { userListSpec, userPage, userRead } from './user-schemas.ts';

const guard = { scopes: ['users:read'] } as const;

/** `GET /api/admin/users/`: one page of the users. */
export const usersList: EndpointDefinition = {
  id: 'Users-List',
  method: 'GET',
  path: '/api/admin/users/',
  guard,
  summary: 'Lists users',
  description: 'One page; filters all hold together.',
  query: () => listQuerySchema(userListSpec),
  success: { status: 200, description: 'A page of users.', schema: () => userPage },
  refusals: ['invalid_cursor'],

  create(parts) {
    const readRequest = createListRequests(userListSpec, parts.cursors);
    return async ({ exchange }) => {
      const { query, body } = readRequest(exchange.query);
      const page = await parts.records.listUserRecords(storeQuery(query as UserQuery));
      return {
        status: 200,
        body: body(page, {
          positionOf: (record) => positionOf(record, query.sortBy),
          present: (record): z.input<typeof userRead> => presentUser(record, parts),
        }),
      };
    };
  },
};

/** `GET /api/admin/users/filters`: the fields by which the list is filtered and sorted. */
export const usersFilters = defineFilters('Users-Filters', usersList, () => userListSpec);

/** `GET /api/admin/users/{id}`. */
export const usersRead: EndpointDefinition = {
  id: 'Users-Read',
  method: 'GET',
  path: '/api/admin/users/{id}',
  guard,
  summary: 'Shows a user',
  description: 'Its `ETag` is for `If-Match`.',
  success: { status: 200, description: 'The user.', schema: () => userRead, headers: ['ETag'] },
  refusals: ['not_found'],

  create(parts) {
    return async ({ id }) => {
      const found = await parts.records.findUserRecord(id);
      if (found === undefined) throw new Refusal('not_found');
      return { status: 200, headers: ['ETag', entityTagOf(found.user)], body: presentUser(found, parts) };
    };
  },
};

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
