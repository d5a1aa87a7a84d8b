import type { z } from 'zod';
import { Refusal } from '../../errors.ts';
import { assertIfMatch, entityTagOf } from '../../http/if-match.ts';
import { readJson } from '../../input/json-body.ts';
import { canonicalAccountName, parseUsername } from '../../rules/account-name.ts';
import type { Changed } from '../../stores/scope-set-records.ts';
import type { UserRecord, UserRecordChanges } from '../../stores/user-records.ts';
import { actorOf } from '../audit.ts';
import { callerRefOf } from '../caller-ref.ts';
import type { Endpoint } from '../endpoint.ts';
import { assertAllowedPassword } from '../password-rules.ts';
import { requireScopeSets } from '../scope-set-ids.ts';
import { presentUser } from './present-user.ts';
import {
  assertMayChange,
  assertUnmanaged,
  endSessions,
  fieldProblem,
  hashPassword,
  needed,
  type UserChangeOptions,
} from './user-changes.ts';
import { changedUserEntries } from './user-events.ts';
import { secretFields, userPatch } from './user-schemas.ts';

type UserPatch = z.output<ReturnType<typeof userPatch>>;

/** `PATCH /api/admin/users/{id}`: callers can't change a user who effectively holds more, or give what they don't hold. */
export function createUserPatch(options: UserChangeOptions): Endpoint {
  const { records, catalogue, minPasswordLength, changeAudit } = options;
  const schema = userPatch({ catalogue: [...catalogue].sort(), minPasswordLength });
  return {
    method: 'PATCH',
    path: '/api/admin/users/{id}',
    guard: { scopes: needed },
    async handle({ exchange, principal, id, body }) {
      const patch = readJson(body, exchange.head.contentType, schema, { secret: secretFields });
      await requireScopeSets(records, patch.scope_sets ?? []);
      const changes = changesOf(patch, await hashPassword(options, patch.password, patch.username ?? null));
      const changed = await records.changeUserRecord(id, {
        caller: callerRefOf(principal),
        decide(found, caller) {
          assertFitsKind(found, patch);
          if (typeof patch.password === 'string')
            assertAllowedPassword(patch.password, patch.username ?? found.user.username, 'password');
          assertIfMatch(exchange.head, found.user);
          assertMayChange(options, caller, found, {
            scopes: addedTo(found.user.scopes, patch.scopes),
            scopeSets: addedTo(found.user.scopeSets, patch.scope_sets),
          });
          assertUnmanaged(found);
          return changes;
        },
        audit: changeAudit(exchange, (made: Changed<UserRecord>) =>
          changedUserEntries(actorOf(principal), made),
        ),
      });
      if (changed === undefined) throw new Refusal('not_found');
      const { after } = changed;
      // Also where the record already says so: an earlier call may not have reached the session store.
      if (patch.disabled === true || patch.password !== undefined)
        await endSessions(options, exchange, actorOf(principal), id);
      return { status: 200, headers: ['ETag', entityTagOf(after.user)], body: presentUser(after, options) };
    },
  };
}

function changesOf(patch: UserPatch, passwordHash: string | null | undefined): UserRecordChanges {
  const username = patch.username === undefined ? undefined : (parseUsername(patch.username) as string);
  return {
    ...(username !== undefined && { name: { username, canonicalName: canonicalAccountName(username) } }),
    displayName: patch.display_name,
    email: patch.email,
    passwordHash,
    scopes: patch.scopes?.toSorted(),
    scopeSets: patch.scope_sets?.toSorted(),
    disabled: patch.disabled,
  };
}

function assertFitsKind({ user }: UserRecord, { kind, password }: UserPatch): void {
  if (kind !== undefined && kind !== user.kind)
    throw fieldProblem('kind', 'the kind of a user never changes', kind);
  if (user.kind === 'service' && typeof password === 'string')
    throw fieldProblem('password', 'a service has none', null);
}

function addedTo(own: readonly string[], wanted: readonly string[] = []): readonly string[] {
  return wanted.filter((name) => !own.includes(name));
}
