import { rightsOf, rightsOfUser } from '../../administration/caller-rights.ts';
import { assertHolds } from '../../administration/privilege.ts';
import { removedUserEvents } from '../../administration/user-events.ts';
import type { Held } from '../../credentials/holdings.ts';
import { heldScopes } from '../../credentials/scopes.ts';
import { Refusal, ValidationError } from '../../errors.ts';
import { assertIfMatch } from '../../http/if-match.ts';
import { readQuery } from '../../input/query.ts';
import type { ListedApiKey } from '../../stores/api-key.ts';
import type { CallerFound } from '../../stores/caller.ts';
import type { KeysOfRemoved, RemovalFound, UserRecord } from '../../stores/user-records.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import {
  assertMayChange,
  assertUnmanaged,
  endSessions,
  needed,
  type UserChangeOptions,
} from './user-changes.ts';
import { removalQuery } from './user-schemas.ts';

const transfer = 'transfer:';

/** `DELETE /api/admin/users/{id}`: the user, the sessions and, as `keys` says, the keys. */
export const usersDelete: EndpointDefinition = {
  id: 'Users-Delete',
  method: 'DELETE',
  path: '/api/admin/users/{id}',
  guard: { scopes: needed },
  summary: 'Removes a user',
  description: 'Ends the sessions; the keys are deleted, kept without an owner, or given to another user.',
  takesIfMatch: true,
  query: () => removalQuery,
  success: { status: 204, description: 'Gone.' },
  refusals: ['not_found', 'precondition_failed', 'last_administrator', 'managed'],

  create(parts) {
    const { records, audit, onCredentialEnded } = parts;
    return async (call) => {
      const { exchange, id } = call;
      const by = callerIn(call);
      const { keys: asked } = readQuery(exchange.query, removalQuery, { plain: ['keys'] });
      const keys = keysOf(asked);
      const removed = await records.removeUserRecord(id, keys, {
        caller: by.ref,
        decide(removal, caller) {
          if (typeof keys === 'object') assertNewOwner(id, removal.newOwner, asked);
          assertIfMatch(exchange.head, removal.found.user);
          assertMayChange(parts, caller, removal.found);
          assertKeysMayStay(parts, caller, removal);
          assertUnmanaged(removal.found);
        },
        audit: audit.withChange(by, removedUserEvents),
      });
      if (removed === undefined) {
        // A query is judged before its record, so that it is judged without one too.
        if (typeof keys === 'object')
          assertNewOwner(id, await records.findUserRecord(keys.transferTo), asked);
        throw new Refusal('not_found');
      }
      for (const key of removed.deletedKeys) onCredentialEnded(key.id);
      await endSessions(parts, by, id);
      return { status: 204 };
    };
  },
};

function keysOf(asked: string): KeysOfRemoved {
  if (asked.startsWith(transfer)) return { transferTo: asked.slice(transfer.length) };
  return asked === 'keep' ? 'keep' : 'delete';
}

function assertNewOwner(removedId: string, newOwner: UserRecord | undefined, asked: string): void {
  if (newOwner !== undefined && !newOwner.user.disabled && newOwner.user.id !== removedId) return;
  const msg = 'Value error, no other enabled user';
  throw new ValidationError([
    { type: 'value_error', loc: ['query', 'keys'], msg, input: asked, ctx: { error: {} } },
  ]);
}

/**
 * A key that is kept, or given to another user, is bounded by its owner no longer: it regains what the owner had lost. So
 * it is judged as one that is minted now, by the caller and for the new owner.
 */
function assertKeysMayStay(
  { holdings, catalogue, now }: UserChangeOptions,
  caller: CallerFound,
  { keys, newOwner }: RemovalFound,
): void {
  const rights = rightsOf(caller, holdings, now());
  if (newOwner !== undefined) assertHolds(rights, holdings.mostOf(newOwner), needed);
  const written = keys.map((key) => writtenIn(key, catalogue));
  for (const held of written) assertHolds(rights, held, needed);
  if (newOwner === undefined) return;
  // A provider's grants to the new owner don't count for a key that was minted in none of their sessions.
  const ownerRights = rightsOfUser(holdings.ofUser(newOwner, null));
  for (const held of written) assertHolds(ownerRights, held, []);
}

function writtenIn({ key, sets }: ListedApiKey, catalogue: ReadonlySet<string>): Held {
  return { scopes: heldScopes(key.scopes, sets, catalogue), scopeSets: key.scopeSets };
}
