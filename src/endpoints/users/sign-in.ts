import { z } from 'zod';
import { inviteUser } from '../../administration/invitations.ts';
import { presentIdentities } from '../../administration/present-user.ts';
import { timestamp, toTimestamp } from '../../administration/timestamp.ts';
import { linkIdentity, unlinkIdentity } from '../../administration/user-identities.ts';
import { liftThrottle, usersWrite } from '../../administration/users.ts';
import { Refusal, type ValidationProblem } from '../../errors.ts';
import { maxSubjectLength } from '../../identity-providers/id-token.ts';
import { valueError } from '../../input/pydantic-problems.ts';
import { codePointString, oneOf, withoutControlCharacters } from '../../input/pydantic-types.ts';
import { noParameters, readQuery } from '../../input/url-encoded.ts';
import { canonicalAccountName } from '../../rules/account-name.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { readWriteBody } from '../write-body.ts';
import { identityList, identityRead } from './read.ts';

/** Schema of a new identity; `providers` are the names of the configured providers (empty: any, for the OpenAPI document). */
function identityLink(providers: readonly string[]) {
  return z
    .strictObject({
      provider: oneOf(providers).describe('The name of a configured identity provider.'),
      subject: codePointString({ min: 1, max: maxSubjectLength, pattern: withoutControlCharacters })
        .describe('The `sub` of the user at the provider, exactly.')
        .refine((subject) => subject.trim() !== '', 'must not be blank'),
    })
    .meta({ id: 'IdentityLink' });
}

const identityQuery = z.strictObject({ provider: z.string(), subject: z.string() });

const invitation = z
  .object({
    token: z.string().describe('Shown this once; the user presents it with a new password.'),
    expires: timestamp,
  })
  .meta({ id: 'Invitation' });

const userThrottle = z
  .object({
    failures: z.int().describe('Failed sign-ins that still count.'),
    window_ends: timestamp.nullable().describe('When the last of them stop counting; null: none counts.'),
    refusing: z
      .boolean()
      .describe('Whether sign-ins are refused, from anywhere or from one of the addresses.'),
  })
  .meta({ id: 'UserThrottle' });

/** `GET /api/admin/users/{id}/identities`: the identities of a user, in the order in which they were linked. */
export const usersIdentities: EndpointDefinition = {
  id: 'Users-Identities',
  method: 'GET',
  path: '/api/admin/users/{id}/identities',
  guard: { scopes: ['users:read'] },
  summary: 'Lists the identities of a user',
  description: 'All of them, in the order in which they were linked.',
  query: () => noParameters,
  success: { status: 200, description: 'The identities.', schema: () => identityList },
  refusals: ['not_found'],

  create({ records, providerOf }) {
    return async ({ exchange, id }) => {
      readQuery(exchange.query, noParameters);
      const found = await records.findUserRecord(id);
      if (found === undefined) throw new Refusal('not_found');
      return { status: 200, body: presentIdentities(found, providerOf) };
    };
  },
};

/** `POST /api/admin/users/{id}/identities`: links an identity, which signs in as this user from now on. */
export const usersLink: EndpointDefinition = {
  id: 'Users-Link',
  method: 'POST',
  path: '/api/admin/users/{id}/identities',
  guard: { scopes: usersWrite },
  summary: 'Links an identity to a user',
  description:
    'Sign-ins by it are this user’s. Refused for a service, and for a user who effectively holds more than the calling credential.',
  body: { schema: () => identityLink([]) },
  success: { status: 201, description: 'The identity.', schema: () => identityRead },
  refusals: ['not_found', 'managed', 'conflict'],

  create(parts) {
    const { records, issuers } = parts;
    const schema = identityLink([...issuers.keys()]);

    async function judgeProvider(id: string, provider: string): Promise<readonly ValidationProblem[]> {
      const problem = (message: string) => [{ ...valueError(message), loc: ['provider'], input: provider }];
      if (!issuers.has(provider)) return problem('no provider is configured');
      const found = await records.findUserRecord(id);
      return found?.user.kind === 'service' ? problem("a service can't sign in") : [];
    }

    return async (call) => {
      const { id } = call;
      const { provider, subject } = await readWriteBody(call, schema, {
        judge: async (fields) => (fields.provider === undefined ? [] : judgeProvider(id, fields.provider)),
      });
      const issuer = issuers.get(provider)!;
      await linkIdentity(parts, callerIn(call), id, { provider, issuer, subject });
      return { status: 201, body: { provider, subject } };
    };
  },
};

/** `DELETE /api/admin/users/{id}/identities?provider=&subject=`: unlinks an identity and ends the user's sessions. */
export const usersUnlink: EndpointDefinition = {
  id: 'Users-Unlink',
  method: 'DELETE',
  path: '/api/admin/users/{id}/identities',
  guard: { scopes: usersWrite },
  summary: 'Unlinks an identity from a user',
  description: 'Ends the sessions of the user.',
  query: () => identityQuery,
  success: { status: 204, description: 'The identity can no longer sign in as this user.' },
  refusals: ['not_found', 'managed', 'last_administrator'],

  create(parts) {
    const { issuers } = parts;
    return async (call) => {
      const { provider, subject } = readQuery(call.exchange.query, identityQuery);
      const issuer = issuers.get(provider);
      if (issuer === undefined) throw new Refusal('not_found');
      await unlinkIdentity(parts, callerIn(call), call.id, { provider, issuer, subject });
      return { status: 204 };
    };
  },
};

/** `POST /api/admin/users/{id}/invitation`: creates a token, shown only once, with which the user sets a password. */
export const usersInvite: EndpointDefinition = {
  id: 'Users-Invite',
  method: 'POST',
  path: '/api/admin/users/{id}/invitation',
  guard: { scopes: usersWrite },
  summary: 'Invites a user to set a password',
  description:
    'The token is shown this once and can be redeemed within seven days; an earlier one of the user ends. Refused for a user who effectively holds more than the calling credential.',
  query: () => noParameters,
  success: { status: 201, description: 'The invitation.', schema: () => invitation },
  refusals: ['not_found', 'managed', 'conflict'],

  create(parts) {
    return async (call) => {
      readQuery(call.exchange.query, noParameters);
      const { token, expires } = await inviteUser(parts, callerIn(call), call.id);
      const body: z.input<typeof invitation> = { token, expires: toTimestamp(expires) };
      return { status: 201, body };
    };
  },
};

/** `GET /api/admin/users/{id}/throttle`: the failed sign-ins that count against a user. */
export const usersThrottle: EndpointDefinition = {
  id: 'Users-Throttle',
  method: 'GET',
  path: '/api/admin/users/{id}/throttle',
  guard: { scopes: ['users:read'] },
  summary: 'Shows failed sign-ins of a user',
  description: 'As far as they still count against the account; what counts against addresses is not shown.',
  success: { status: 200, description: 'What the login throttle counts.', schema: () => userThrottle },
  refusals: ['not_found'],

  create({ records, throttle, now }) {
    return async ({ id }) => {
      const found = await records.findUserRecord(id);
      if (found === undefined) throw new Refusal('not_found');
      const { failures, remainingMs, isRefusing } = await throttle.stateOf(
        canonicalAccountName(found.user.username),
      );
      const body: z.input<typeof userThrottle> = {
        failures,
        window_ends: remainingMs === null ? null : toTimestamp(now() + remainingMs),
        refusing: isRefusing,
      };
      return { status: 200, body };
    };
  },
};

/** `DELETE /api/admin/users/{id}/throttle`: forgets the failed sign-ins of a user; those counted by address alone remain. */
export const usersUnlock: EndpointDefinition = {
  id: 'Users-Unlock',
  method: 'DELETE',
  path: '/api/admin/users/{id}/throttle',
  guard: { scopes: usersWrite },
  summary: 'Forgets failed sign-ins of a user',
  description:
    'The user may try again at once, from any address. Refused for a user who effectively holds more than the calling credential.',
  query: () => noParameters,
  success: { status: 204, description: 'Nothing is counted any more.' },
  refusals: ['not_found'],

  create(parts) {
    return async (call) => {
      readQuery(call.exchange.query, noParameters);
      await liftThrottle(parts, parts.throttle, callerIn(call), call.id);
      return { status: 204 };
    };
  },
};
