import type { CallerFound, CallerRef } from '../caller.ts';
import { type ApiKeyOwnerRow, selectApiKeyWithOwner, toApiKeyWithOwner } from './api-key-row.ts';
import type { Dialect } from './dialect.ts';
import { first, type Steps } from './steps.ts';
import { selectUser, toUserWithSets, type UserRow } from './user-row.ts';

/** Builds the steps that read the caller of a change in its transaction. */
export function createFindCaller(dialect: Dialect): (ref: CallerRef) => Steps<CallerFound> {
  const userById = `${selectUser(dialect)} WHERE u.id = ?`;
  const keyById = `${selectApiKeyWithOwner(dialect)} WHERE k.id = ?`;
  return function* find(ref) {
    switch (ref.kind) {
      case 'session':
        return { kind: ref.kind, ref, user: toUserWithSets(yield* first<UserRow>(userById, ref.userId)) };
      case 'api_key':
        return {
          kind: ref.kind,
          key: toApiKeyWithOwner(yield* first<ApiKeyOwnerRow>(keyById, ref.keyId)),
        };
      default:
        return { kind: ref.kind };
    }
  };
}
