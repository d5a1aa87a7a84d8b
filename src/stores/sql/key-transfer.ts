import type { ListedApiKey } from '../api-key.ts';
import type { JudgedChange } from '../caller.ts';
import type { KeyTransfer } from '../records.ts';
import { type ApiKeyRow, selectApiKey, toApiKey } from './api-key-row.ts';
import { createFindCaller } from './callers.ts';
import type { Dialect } from './dialect.ts';
import { first, noteChange, run, type Steps } from './steps.ts';
import { selectUserRecord, toUserRecord, type UserRecordRow } from './user-record-row.ts';

/** Clears the origin: the key wasn't minted in a session of the new owner. */
const setOwner = 'UPDATE api_keys SET created_by = ?, origin = NULL, version = version + 1 WHERE id = ?';

/** Builds the steps that give a key to another user. */
export function createKeyTransfer(
  dialect: Dialect,
): (
  id: string,
  newOwnerId: string,
  change: Pick<JudgedChange<KeyTransfer, void, ListedApiKey>, 'caller' | 'decide'>,
) => Steps<ListedApiKey | undefined> {
  const keyById = `${selectApiKey(dialect)} WHERE k.id = ?`;
  const userById = `${selectUserRecord(dialect)} WHERE u.id = ?`;
  const findCaller = createFindCaller(dialect);

  function* find(id: string): Steps<ListedApiKey | undefined> {
    const row = yield* first<ApiKeyRow>(keyById, id);
    return row && toApiKey(row);
  }

  return function* transfer(id, newOwnerId, { caller, decide }) {
    const found = yield* find(id);
    if (found === undefined) return undefined;
    const owner = yield* first<UserRecordRow>(userById, newOwnerId);
    decide({ found, newOwner: owner && toUserRecord(owner) }, yield* findCaller(caller));
    yield* run(setOwner, newOwnerId, id);
    yield* noteChange([], [id]);
    return yield* find(id);
  };
}
