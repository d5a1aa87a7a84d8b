import { Refusal } from '../../errors.ts';
import { administratorSetId } from '../scope-set.ts';
import { all, first, run, type Steps } from './steps.ts';

/** Ids of enabled administrators who can sign in; a provider's grant doesn't count, since its next assertion may end it. */
const selectAdministrators = `SELECT u.id FROM user_scope_sets s JOIN users u ON u.id = s.user_id
  WHERE s.set_id = ? AND u.disabled = 0 AND u.kind = 'person'
    AND (u.password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id))`;
const selectAdministrator = `${selectAdministrators} LIMIT 1`;

const selectBootstrap = 'SELECT open FROM bootstrap';
/** Closes the bootstrap; only a reset opens it again. */
const closeBootstrap = 'UPDATE bootstrap SET open = 0, token = NULL';

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

/** True while the bootstrap is open. */
export function* isBootstrapOpen(): Steps<boolean> {
  return (yield* first<{ readonly open: number }>(selectBootstrap))?.open === 1;
}

/**
 * Steps of a change that closes the bootstrap if it makes an administrator, as {@link keepingAdministrator} counts them.
 * Administrators who were there before don't close it: a reset opens the bootstrap in spite of them.
 */
export function* closingBootstrap<T>(change: () => Steps<T>): Steps<T> {
  if (!(yield* isBootstrapOpen())) return yield* change();
  const before = yield* administratorIds();
  const result = yield* change();
  const after = yield* administratorIds();
  if ([...after].some((id) => !before.has(id))) yield* run(closeBootstrap);
  return result;
}

function* administratorIds(): Steps<ReadonlySet<string>> {
  const rows = yield* all<{ readonly id: string }>(selectAdministrators, administratorSetId);
  return new Set(rows.map(({ id }) => id));
}
