import { z } from 'zod';
import { timestamp } from '../../administration/timestamp.ts';
import { codePointString, distinctList, withoutControlCharacters } from '../../input/pydantic-types.ts';
import { emailAddress, maxEmailLength } from '../../rules/email-address.ts';
import type { UserSortField } from '../../stores/user-records.ts';
import { newPassword, newUsername } from '../account-fields.ts';
import { instantOperators } from '../lists/list-fields.ts';
import type { ListSpec } from '../lists/list-spec.ts';
import { pageFields } from '../lists/page.ts';

const kinds = ['person', 'service'] as const;
const maxScopes = 256;
const maxScopeSets = 64;
const maxTextLength = 256;

/** Fields whose value never appears in a problem. */
export const secretFields = ['password'] as const;

/** Bounds of a user's fields. */
export interface UserBounds {
  /** Sorted; empty: any scope (the OpenAPI document). */
  readonly catalogue: readonly string[];
  readonly minPasswordLength: number;
}

/** Bounds of the OpenAPI document, which knows no configuration but the defaults. */
export const documentedBounds: UserBounds = { catalogue: [], minPasswordLength: 12 };

function userFields({ catalogue, minPasswordLength }: UserBounds) {
  const [first, ...others] = catalogue;
  const scope = first === undefined ? z.string() : z.enum([first, ...others]);
  const text = codePointString({ min: 1, max: maxTextLength, trim: true, pattern: withoutControlCharacters });
  return {
    username: newUsername(),
    display_name: text.nullable().optional(),
    email: codePointString({ min: 1, max: maxEmailLength, pattern: emailAddress }).nullable().optional(),
    scopes: distinctList(scope, { max: maxScopes }),
    scope_sets: distinctList(z.string(), { max: maxScopeSets }),
    disabled: z.boolean(),
    password: newPassword(minPasswordLength).nullable().optional(),
  };
}

/** A new user. */
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

/** A merge patch (RFC 7396) of a user. */
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

/** `?keys` of a removal. */
export const removalQuery = z.strictObject({
  keys: z
    .string()
    .regex(/^(?:delete|keep|transfer:.+)$/)
    .default('delete')
    .describe('The keys of the user: `delete`, `keep` (without an owner), or `transfer:<user id>`.'),
});

const scopeList = z.array(z.string());

/** An identity as it is read. */
export const identityRead = z
  .object({
    provider: z.string().nullable().describe('Null: no configured provider has its issuer.'),
    subject: z.string(),
  })
  .meta({ id: 'Identity' });

/** The identities of a user. */
export const identityList = z.array(identityRead).meta({ id: 'Identities' });

/** A user as it is read. */
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

/** A page of users. */
export const userPage = z
  .object(pageFields(userRead, 'Users that pass the filters.'))
  .meta({ id: 'UserCursorPage' });

/** The filters and orders of the list of users. */
export const userListSpec: ListSpec<UserSortField> = {
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
