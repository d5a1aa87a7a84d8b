import type { ChangeEvent } from '../../administration/audit.ts';
import { userEvent } from '../../administration/user-events.ts';
import type { Held } from '../../credentials/holdings.ts';
import { Refusal, type ValidationProblem } from '../../errors.ts';
import { valueError } from '../../input/pydantic-problems.ts';
import { noParameters, readQuery } from '../../input/query.ts';
import type { Records } from '../../stores/records.ts';
import type { UserIdentityRecords } from '../../stores/user-identity-records.ts';
import type { UserRecord, UserRecords } from '../../stores/user-records.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { readWriteBody } from '../write-body.ts';
import { identityLink, identityList, identityQuery, identityRead } from './identity-schemas.ts';
import { presentIdentities } from './present-user.ts';
import {
  assertMayChange,
  assertUnmanaged,
  endSessions,
  needed,
  type UserChangeOptions,
} from './user-changes.ts';

/** What calls about identities need. */
export interface UserIdentityOptions extends Omit<UserChangeOptions, 'records'> {
  readonly records: Pick<UserRecords, 'findUserRecord'> &
    UserIdentityRecords &
    Pick<Records, 'findScopeSetByName'>;
  /** The issuer of each configured provider, by name. */
  readonly issuers: ReadonlyMap<string, string>;
}

/** `GET /api/admin/users/{id}/identities`: in the order in which they were linked. */
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

/** `POST /api/admin/users/{id}/identities`: sign-ins by that identity are this user's from now on. */
export const usersLink: EndpointDefinition = {
  id: 'Users-Link',
  method: 'POST',
  path: '/api/admin/users/{id}/identities',
  guard: { scopes: needed },
  summary: 'Links an identity to a user',
  description:
    'Sign-ins by it are this user’s. Refused for a service, and for a user who effectively holds more than the calling credential.',
  body: { schema: () => identityLink([]) },
  success: { status: 201, description: 'The identity.', schema: () => identityRead },
  refusals: ['not_found', 'managed', 'conflict'],

  create(parts) {
    const { records, issuers, audit } = parts;
    const schema = identityLink([...issuers.keys()]);

    async function judgeProvider(id: string, provider: string): Promise<readonly ValidationProblem[]> {
      const problem = (message: string) => [{ ...valueError(message), loc: ['provider'], input: provider }];
      if (!issuers.has(provider)) return problem('no provider is configured');
      const found = await records.findUserRecord(id);
      return found?.user.kind === 'service' ? problem("a service can't sign in") : [];
    }

    return async (call) => {
      const { id } = call;
      const by = callerIn(call);
      const { provider, subject } = await readWriteBody(call, schema, {
        judge: async (fields) => (fields.provider === undefined ? [] : judgeProvider(id, fields.provider)),
      });
      const issuer = issuers.get(provider)!;
      const grantable = await everythingGrantable(parts, issuer);
      const linked = await records.linkUserIdentity(id, {
        caller: by.ref,
        decide(found, caller) {
          assertMayChange(parts, caller, found, grantable);
          assertUnmanaged(found);
          return { issuer, subject };
        },
        audit: audit.withChange(by, eventOf('identity_linked', provider)),
      });
      if (linked === undefined) throw new Refusal('not_found');
      return { status: 201, body: { provider, subject } };
    };
  },
};

/** `DELETE /api/admin/users/{id}/identities?provider=&subject=`: a way in is gone, and so are the user's sessions. */
export const usersUnlink: EndpointDefinition = {
  id: 'Users-Unlink',
  method: 'DELETE',
  path: '/api/admin/users/{id}/identities',
  guard: { scopes: needed },
  summary: 'Unlinks an identity from a user',
  description: 'Ends the sessions of the user.',
  query: () => identityQuery,
  success: { status: 204, description: 'It signs in as this user no longer.' },
  refusals: ['not_found', 'managed', 'last_administrator'],

  create(parts) {
    const { records, issuers, audit } = parts;
    return async (call) => {
      const { id } = call;
      const by = callerIn(call);
      const { provider, subject } = readQuery(call.exchange.query, identityQuery);
      const issuer = issuers.get(provider);
      if (issuer === undefined) throw new Refusal('not_found');
      const unlinked = await records.unlinkUserIdentity(
        id,
        { issuer, subject },
        {
          caller: by.ref,
          decide(found, caller) {
            assertMayChange(parts, caller, found);
            assertUnmanaged(found);
          },
          audit: audit.withChange(by, eventOf('identity_unlinked', provider)),
        },
      );
      if (unlinked === undefined) throw new Refusal('not_found');
      await endSessions(parts, by, id);
      return { status: 204 };
    };
  },
};

/** An id that no set has; stands for a set that a grant names and that doesn't exist yet. */
const missingSet = '';

/**
 * All rights named by the grants of the issuer's providers: a caller who links a subject decides whose account gets them,
 * whatever the subject is granted today.
 */
async function everythingGrantable(
  { records, holdings }: UserIdentityOptions,
  issuer: string,
): Promise<Held> {
  const { scopes, setNames } = holdings.grantableBy(issuer);
  const found = await Promise.all(setNames.map((name) => records.findScopeSetByName(name)));
  const sets = found.filter((set) => set !== undefined);
  return {
    scopes: [...scopes, ...holdings.scopesOf(sets)],
    scopeSets: found.map((set) => set?.id ?? missingSet),
  };
}

function eventOf(event: ChangeEvent['event'], provider: string) {
  return (made: UserRecord) => [{ ...userEvent(event, made), provider, changes: { fields: ['identities'] } }];
}
