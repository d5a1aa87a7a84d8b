import { removeUser, usersWrite } from '../../administration/users.ts';
import { isRefusal, ValidationError } from '../../errors.ts';
import { assertIfMatch } from '../../http/if-match.ts';
import { readQuery } from '../../input/query.ts';
import type { KeysOfRemoved, UserRecord } from '../../stores/user-records.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { removalQuery } from './user-schemas.ts';

const transfer = 'transfer:';

/** `DELETE /api/admin/users/{id}`: the user, the sessions and, as `keys` says, the keys. */
export const usersDelete: EndpointDefinition = {
  id: 'Users-Delete',
  method: 'DELETE',
  path: '/api/admin/users/{id}',
  guard: { scopes: usersWrite },
  summary: 'Removes a user',
  description: 'Ends the sessions; the keys are deleted, kept without an owner, or given to another user.',
  takesIfMatch: true,
  query: () => removalQuery,
  success: { status: 204, description: 'Gone.' },
  refusals: ['not_found', 'precondition_failed', 'last_administrator', 'managed'],

  create(parts) {
    return async (call) => {
      const { exchange, id } = call;
      const { keys: asked } = readQuery(exchange.query, removalQuery, { plain: ['keys'] });
      const keys = keysOf(asked);
      await removeUser(parts, callerIn(call), id, keys, {
        judge({ found, newOwner }) {
          if (typeof keys === 'object') assertNewOwner(id, newOwner, asked);
          assertIfMatch(exchange.head, found.user);
        },
      }).catch(async (error: unknown) => {
        // A query is judged before its record, so that it is judged without one too.
        if (isRefusal(error, 'not_found') && typeof keys === 'object')
          assertNewOwner(id, await parts.records.findUserRecord(keys.transferTo), asked);
        throw error;
      });
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
