import { apiKeyWriteCreate } from '../administration/api-key-fields.ts';
import { apiKeyReadCreate, mintQuery } from '../endpoints/api-keys/api-key-schemas.ts';
import type { Operation } from '../endpoints/endpoint.ts';
import { listQuerySchema } from '../endpoints/lists/list-spec.ts';
import {
  identityLink,
  identityList,
  identityQuery,
  identityRead,
} from '../endpoints/users/identity-schemas.ts';
import { invitation } from '../endpoints/users/invitation-schemas.ts';
import { userThrottle } from '../endpoints/users/throttle.ts';
import {
  removalQuery,
  userCreate,
  userListSpec,
  userPage,
  userPatch,
  userRead,
} from '../endpoints/users/user-schemas.ts';
import { noParameters } from '../input/query.ts';
import { filtersOperation } from './list-filters.ts';

const list = '/api/admin/users/';
const read = { scopes: ['users:read'] } as const;
const write = { scopes: ['users:write'] } as const;
const bounds = { catalogue: [], minPasswordLength: 12 };

/** The operations on users. */
export const userOperations: readonly Operation[] = [
  {
    id: 'Users-List',
    summary: 'Lists users',
    description: 'One page; filters all hold together.',
    method: 'GET',
    path: list,
    guard: read,
    query: () => listQuerySchema(userListSpec),
    success: { status: 200, description: 'A page of users.', schema: () => userPage },
    refusals: ['invalid_cursor'],
  },
  {
    id: 'Users-Create',
    summary: 'Creates a user',
    description: 'Who holds no more than the calling credential.',
    method: 'POST',
    path: list,
    guard: write,
    body: { schema: () => userCreate(bounds) },
    success: { status: 201, description: 'The user.', schema: () => userRead, headers: ['ETag'] },
    refusals: ['conflict', 'overloaded'],
  },
  filtersOperation('Users-Filters', list, read),
  {
    id: 'Users-Read',
    summary: 'Shows a user',
    description: 'Its `ETag` is for `If-Match`.',
    method: 'GET',
    path: `${list}{id}`,
    guard: read,
    success: { status: 200, description: 'The user.', schema: () => userRead, headers: ['ETag'] },
    refusals: ['not_found'],
  },
  {
    id: 'Users-Change',
    summary: 'Changes a user',
    description:
      'At once for every token and key. Refused for a user who effectively holds more than the calling credential.',
    method: 'PATCH',
    path: `${list}{id}`,
    guard: write,
    takesIfMatch: true,
    body: { schema: () => userPatch(bounds) },
    success: { status: 200, description: 'The user as changed.', schema: () => userRead, headers: ['ETag'] },
    refusals: ['not_found', 'precondition_failed', 'conflict', 'last_administrator', 'managed', 'overloaded'],
  },
  {
    id: 'Users-Delete',
    summary: 'Removes a user',
    description: 'Ends the sessions; the keys are deleted, kept without an owner, or given to another user.',
    method: 'DELETE',
    path: `${list}{id}`,
    guard: write,
    takesIfMatch: true,
    query: () => removalQuery,
    success: { status: 204, description: 'Gone.' },
    refusals: ['not_found', 'precondition_failed', 'last_administrator', 'managed'],
  },
  {
    id: 'Users-Identities',
    summary: 'Lists the identities of a user',
    description: 'All of them, in the order in which they were linked.',
    method: 'GET',
    path: `${list}{id}/identities`,
    guard: read,
    query: () => noParameters,
    success: { status: 200, description: 'The identities.', schema: () => identityList },
    refusals: ['not_found'],
  },
  {
    id: 'Users-Link',
    summary: 'Links an identity to a user',
    description:
      'Sign-ins by it are this user’s. Refused for a service, and for a user who effectively holds more than the calling credential.',
    method: 'POST',
    path: `${list}{id}/identities`,
    guard: write,
    body: { schema: () => identityLink([]) },
    success: { status: 201, description: 'The identity.', schema: () => identityRead },
    refusals: ['not_found', 'managed', 'conflict'],
  },
  {
    id: 'Users-Unlink',
    summary: 'Unlinks an identity from a user',
    description: 'Ends the sessions of the user.',
    method: 'DELETE',
    path: `${list}{id}/identities`,
    guard: write,
    query: () => identityQuery,
    success: { status: 204, description: 'It signs in as this user no longer.' },
    refusals: ['not_found', 'managed', 'last_administrator'],
  },
  {
    id: 'Users-Throttle',
    summary: 'Shows failed sign-ins of a user',
    description:
      'As far as they still count against the account; what counts against addresses is not shown.',
    method: 'GET',
    path: `${list}{id}/throttle`,
    guard: read,
    success: { status: 200, description: 'What the login throttle counts.', schema: () => userThrottle },
    refusals: ['not_found'],
  },
  {
    id: 'Users-Unlock',
    summary: 'Forgets failed sign-ins of a user',
    description:
      'The user may try again at once, from any address. Refused for a user who effectively holds more than the calling credential.',
    method: 'DELETE',
    path: `${list}{id}/throttle`,
    guard: write,
    query: () => noParameters,
    success: { status: 204, description: 'Nothing is counted any more.' },
    refusals: ['not_found'],
  },
  {
    id: 'Users-CreateKey',
    summary: 'Mints a key of a user',
    description:
      'Within what caller and user both hold; a key minted with a key ends no later than it. Refused for a user who effectively holds more than the calling credential.',
    method: 'POST',
    path: `${list}{id}/api-keys`,
    guard: { scopes: ['apikeys:write', 'users:write'] },
    query: () => mintQuery,
    body: {
      schema: () => apiKeyWriteCreate({ catalogue: [], maxLifetimeMs: null, now: Date.now }),
    },
    success: {
      status: 201,
      description: 'The key, shown this once.',
      schema: () => apiKeyReadCreate,
      headers: ['ETag'],
    },
    refusals: ['not_found', 'expiry_exceeds_caller', 'conflict'],
  },
  {
    id: 'Users-Invite',
    summary: 'Invites a user to set a password',
    description:
      'The token is shown this once and can be redeemed within seven days; an earlier one of the user ends. Refused for a user who effectively holds more than the calling credential.',
    method: 'POST',
    path: `${list}{id}/invitation`,
    guard: write,
    query: () => noParameters,
    success: { status: 201, description: 'The invitation.', schema: () => invitation },
    refusals: ['not_found', 'managed', 'conflict'],
  },
];
