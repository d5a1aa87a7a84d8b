import { Refusal } from '../../errors.ts';
import { administratorSetId } from '../scope-set.ts';
import { all, first, run, type Steps } from './steps.ts';

/** Selects enabled administrators who can sign in; grants of a provider don't count, since the next sign-in may end them. */
const selectAdministrators = `SELECT u.id FROM user_scope_sets s JOIN users u ON u.id = s.user_id
  WHERE s.set_id = ? AND u.disabled = 0 AND u.kind = 'person'
    AND (u.password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id))`;
const selectAdministrator = `${selectAdministrators} LIMIT 1`;

const selectBootstrap = 'SELECT open FROM bootstrap';
/** Closes the bootstrap and deletes its token; only a reset opens it again. */
const closeBootstrap = 'UPDATE bootstrap SET open = 0, token = NULL';

/**
 * Runs the steps of a change, and refuses `last_administrator`, which rolls it back, if they remove the last administrator who is
 * enabled, can sign in and was made an administrator locally.
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
 * Runs the steps of a change, and closes the bootstrap if they make an administrator, as {@link keepingAdministrator} counts
 * them. Administrators who existed before don't close it: a reset opens the bootstrap in spite of them.
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
