import type Database from 'better-sqlite3';
import { Refusal } from '../../errors.ts';
import { administratorSetId } from '../records.ts';

/**
 * Runs a change within a transaction; one that takes the last enabled administrator away is refused with
 * `last_administrator`, which rolls it back.
 */
export type KeepingAdministrator = (change: () => void) => void;

/** Creates the watch over one connection. */
export function createAdministratorWatch(db: Database.Database): KeepingAdministrator {
  const hasAdministrator = db
    .prepare<[string], number>(
      `SELECT EXISTS (SELECT 1 FROM held_scope_sets h JOIN users u ON u.id = h.user_id
        WHERE h.set_id = ? AND u.disabled = 0)`,
    )
    .pluck();
  return (change) => {
    const hadOne = hasAdministrator.get(administratorSetId) === 1;
    change();
    if (hadOne && hasAdministrator.get(administratorSetId) === 0) throw new Refusal('last_administrator');
  };
}
