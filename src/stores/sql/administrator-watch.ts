import { Refusal } from '../../errors.ts';
import { administratorSetId } from '../records.ts';
import { first, type Steps } from './steps.ts';

const selectAdministrator = `SELECT h.user_id FROM held_scope_sets h JOIN users u ON u.id = h.user_id
  WHERE h.set_id = ? AND u.disabled = 0 LIMIT 1`;

/**
 * Steps of a change that must not take the last enabled administrator away: it is refused with `last_administrator`,
 * which rolls it back.
 */
export function* keepingAdministrator<T>(change: () => Steps<T>): Steps<T> {
  const hadOne = (yield* first(selectAdministrator, administratorSetId)) !== undefined;
  const result = yield* change();
  if (hadOne && (yield* first(selectAdministrator, administratorSetId)) === undefined)
    throw new Refusal('last_administrator');
  return result;
}
