import { z } from 'zod';
import { presentUser } from '../../administration/present-user.ts';
import { timestamp } from '../../administration/timestamp.ts';
import { Refusal } from '../../errors.ts';
import { entityTagOf } from '../../http/if-match.ts';
import {
  codePointString,
  distinctList,
  oneOf,
  withoutControlCharacters,
} from '../../input/pydantic-types.ts';
import { canonicalAccountName } from '../../rules/account-name.ts';
import { emailAddress, maxEmailLength } from '../../rules/email-address.ts';
import type { ListPosition } from '../../stores/list-query.ts';
import type { UserQuery, UserRecord, UserSortField } from '../../stores/user-records.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { defineFilters, instantOperators, type ListSpec, listQuerySchema } from '../lists/list-spec.ts';
import { createListRequests, pageFields } from '../lists/page.ts';
import { newPassword, newUsername } from '../write-body.ts';

const kinds = ['person', 'service'] as const;
const maxScopes = 256;
const maxScopeSets = 64;
const maxTextLength = 256;

/** Fields whose values never appear in a problem. */
export const secretFields = ['password'] as const;

/** Bounds of a user's fields. */
export interface UserBounds {
  /** Sorted; empty: any scope (for the OpenAPI document). */
  readonly catalogue: readonly string[];
  readonly minPasswordLength: number;
}

/** Bounds of the OpenAPI document, which knows no configuration but the defaults. */
export const documentedBounds: UserBounds = { catalogue: [], minPasswordLength: 12 };

function userFields({ catalogue, minPasswordLength }: UserBounds) {
  const text = codePointString({ min: 1, max: maxTextLength, trim: true, pattern: withoutControlCharacters });
  return {
    username: newUsername(),
    display_name: text.nullable().optional(),
    email: codePointString({ min: 1, max: maxEmailLength, pattern: emailAddress }).nullable().optional(),
    scopes: distinctList(oneOf(catalogue), { max: maxScopes }),
    scope_sets: distinctList(z.string(), { max: maxScopeSets }),
    disabled: z.boolean(),
    password: newPassword(minPasswordLength).nullable().optional(),
  };
}

/** Schema of a new user. */
export function userCreate(bounds: UserBounds) {
  const { username, display_name, email, scopes, scope_sets, disabled, password } = userFields(bounds);
  return z
    .strictObject({
      username,
      display_name,
      email,
      kind: z
        .enum(kinds)
        .default('person')
        .describe("A `service` has no password and can't sign in; its keys remain when people leave."),
      scopes: scopes.default([]).describe("Of the catalogue and the caller's own."),
      scope_sets: scope_sets.default([]).describe('Ids of scope sets that the caller holds.'),
      disabled: disabled.default(false),
      password,
    })
    .meta({ id: 'UserCreate' });
}

/** Schema of a merge patch (RFC 7396) of a user. */
export function userPatch(bounds: UserBounds) {
  const { username, display_name, email, scopes, scope_sets, disabled, password } = userFields(bounds);
  return z
    .strictObject({
      username: username.optional(),
      display_name: display_name.describe('Null: none.'),
      email: email.describe('One e-mail address; null for none.'),
      kind: z.enum(kinds).optional().describe('As it is: it never changes.'),
      scopes: scopes.optional().describe('Own scopes; replaces all.'),
      scope_sets: scope_sets.optional().describe('Own scope sets, as ids; replaces all.'),
      disabled: disabled.optional().describe('Ends the sessions and suspends the keys.'),
      password: password.describe('Null: none. Either ends the sessions.'),
    })
    .meta({ id: 'UserPatch', description: 'A merge patch (RFC 7396): absent members stay.' });
}

const scopeList = z.array(z.string());

/** Schema of an identity in a response. */
export const identityRead = z
  .object({
    provider: z.string().nullable().describe('Null: no configured provider has its issuer.'),
    subject: z.string(),
  })
  .meta({ id: 'Identity' });

/** Schema of the identities of a user. */
export const identityList = z.array(identityRead).meta({ id: 'Identities' });

/** Schema of a user in a response. */
export const userRead = z
  .object({
    id: z.string(),
    username: z.string(),
    display_name: z.string().nullable(),
    email: z.string().nullable(),
    kind: z.enum(kinds),
    scopes: scopeList.describe('Own scopes, as written.'),
    scope_sets: scopeList.describe('Ids of own scope sets, as written.'),
    disabled: z.boolean(),
    created: timestamp,
    updated: timestamp,
    last_login: timestamp.nullable(),
    managed: z.boolean().describe('Kept by the configuration, which alone may change it.'),
    has_password: z.boolean(),
    provider_scopes: scopeList.describe(
      'Scopes that identity providers grant now; they count only in sessions that began there.',
    ),
    provider_scope_sets: scopeList.describe(
      'Ids of sets that identity providers grant now; they count likewise.',
    ),
    identities: identityList,
    effective_scopes: scopeList.describe('All scopes that the user can hold now, from whatever source.'),
  })
  .meta({ id: 'UserRead' });

const userPage = z
  .object(pageFields(userRead, 'Users that pass the filters.'))
  .meta({ id: 'UserCursorPage' });

const userListSpec: ListSpec<UserSortField> = {
  name: 'users',
  fields: [
    {
      name: 'username',
      type: 'string',
      operators: ['contains', 'eq'],
      notes: { contains: 'ASCII case-insensitive.', eq: 'Without regard to case and outer spaces.' },
    },
    {
      name: 'email',
      type: 'string',
      operators: ['contains', 'eq'],
      notes: { contains: 'ASCII case-insensitive.' },
    },
    { name: 'kind', type: 'string', operators: ['eq'], values: kinds },
    {
      name: 'scope_sets',
      type: 'array',
      operators: ['contains'],
      notes: { contains: 'Id of a set that is held; may come more than once: all of them.' },
    },
    { name: 'disabled', type: 'boolean', operators: ['eq'] },
    { name: 'managed', type: 'boolean', operators: ['eq'] },
    { name: 'created', type: 'datetime', operators: instantOperators },
    { name: 'last_login', type: 'datetime', operators: [...instantOperators, 'isnull'] },
  ],
  sortFields: ['created', 'username', 'last_login'],
  sortNote: '`username` by code points; no `last_login` is the far past.',
};

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

/** `GET /api/admin/users/{id}`: one user. */
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

/** The query as the store accepts it: names are compared in their canonical form. */
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
