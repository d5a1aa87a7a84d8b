import { Refusal } from '../../errors.ts';
import { readJson } from '../../input/json-body.ts';
import { readQuery } from '../../input/query.ts';
import type { AuditEventName } from '../../log/audit-events.ts';
import type { UserIdentityRecords } from '../../stores/user-identity-records.ts';
import type { UserRecord, UserRecords } from '../../stores/user-records.ts';
import { actorOf } from '../audit.ts';
import { callerRefOf } from '../caller-ref.ts';
import type { Call, Endpoint } from '../endpoint.ts';
import { identityLink, identityQuery } from './identity-schemas.ts';
import { presentIdentities } from './present-user.ts';
import {
  assertMayChange,
  assertUnmanaged,
  endSessions,
  fieldProblem,
  needed,
  type UserChangeOptions,
  userEntry,
} from './user-changes.ts';

/** What calls about identities need. */
export interface UserIdentityOptions extends Omit<UserChangeOptions, 'records'> {
  readonly records: Pick<UserRecords, 'findUserRecord'> & UserIdentityRecords;
  /** The issuer of each configured provider, by name. */
  readonly issuers: ReadonlyMap<string, string>;
}

/** `GET /api/admin/users/{id}/identities`: in the order in which they were linked. */
export function createUserIdentityList({ records, providerOf }: UserIdentityOptions): Endpoint {
  return {
    method: 'GET',
    path: '/api/admin/users/{id}/identities',
    guard: { scopes: ['users:read'] },
    async handle({ id }) {
      const found = await records.findUserRecord(id);
      if (found === undefined) throw new Refusal('not_found');
      return { status: 200, body: presentIdentities(found, providerOf) };
    },
  };
}

/** `POST /api/admin/users/{id}/identities`: sign-ins by that identity are this user's from now on. */
export function createUserIdentityLink(options: UserIdentityOptions): Endpoint {
  const { records, issuers, changeAudit } = options;
  const schema = identityLink([...issuers.keys()]);
  return {
    method: 'POST',
    path: '/api/admin/users/{id}/identities',
    guard: { scopes: needed },
    async handle({ exchange, principal, id, body }) {
      const { provider, subject } = readJson(body, exchange.head.contentType, schema);
      const issuer = issuers.get(provider);
      if (issuer === undefined) throw fieldProblem('provider', 'no provider is configured', provider);
      const linked = await records.linkUserIdentity(id, {
        caller: callerRefOf(principal),
        decide(found, caller) {
          if (found.user.kind === 'service')
            throw fieldProblem('provider', "a service can't sign in", provider);
          assertMayChange(options, caller, found);
          assertUnmanaged(found);
          return { issuer, subject };
        },
        audit: changeAudit(exchange, entryOf('identity_linked', principal, provider)),
      });
      if (linked === undefined) throw new Refusal('not_found');
      return { status: 201, body: { provider, subject } };
    },
  };
}

/** `DELETE /api/admin/users/{id}/identities?provider=&subject=`: a way in is gone, and so are the user's sessions. */
export function createUserIdentityUnlink(options: UserIdentityOptions): Endpoint {
  const { records, issuers, changeAudit } = options;
  return {
    method: 'DELETE',
    path: '/api/admin/users/{id}/identities',
    guard: { scopes: needed },
    async handle({ exchange, principal, id }) {
      const { provider, subject } = readQuery(exchange.query, identityQuery);
      const issuer = issuers.get(provider);
      if (issuer === undefined) throw new Refusal('not_found');
      const unlinked = await records.unlinkUserIdentity(
        id,
        { issuer, subject },
        {
          caller: callerRefOf(principal),
          decide(found, caller) {
            assertMayChange(options, caller, found);
            assertUnmanaged(found);
          },
          audit: changeAudit(exchange, entryOf('identity_unlinked', principal, provider)),
        },
      );
      if (unlinked === undefined) throw new Refusal('not_found');
      await endSessions(options, exchange, actorOf(principal), id);
      return { status: 204 };
    },
  };
}

function entryOf(event: AuditEventName, principal: Call['principal'], provider: string) {
  return (made: UserRecord) => [
    { ...userEntry(event, principal, made), provider, changes: { fields: ['identities'] } },
  ];
}
