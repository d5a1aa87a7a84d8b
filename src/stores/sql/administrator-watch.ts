import { Refusal } from '../../errors.ts';
import { administratorSetId } from '../scope-set.ts';
import { first, type Steps } from './steps.ts';

/** Neither a grant by a provider, which its next assertion may end, nor a user who can't sign in counts. */
const selectAdministrator = `SELECT s.user_id FROM user_scope_sets s JOIN users u ON u.id = s.user_id
  WHERE s.set_id = ? AND u.disabled = 0 AND u.kind = 'person'
    AND (u.password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id)) LIMIT 1`;

/**
 * Steps of a change that must not remove the last administrator who is enabled, can sign in and was made one locally: it
 * is refused with `last_administrator`, which rolls it back.
 */
export function* keepingAdministrator<T>(change: () => Steps<T>): Steps<T> {
  const hadOne = (yield* first(selectAdministrator, administratorSetId)) !== undefined;
  const result = yield* change();
  if (hadOne && (yield* first(selectAdministrator, administratorSetId)) === undefined)
    throw new Refusal('last_administrator');
  return result;
}
