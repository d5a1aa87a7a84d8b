import type { Session } from './sessions.ts';
import type { User } from './user.ts';

/**
 * True if the session is valid according to its user's record. The session store alone can't tell: it may have been
 * unavailable when the user's sessions were ended. `user` is undefined once the user has been removed.
 */
export function admitsSession(
  user: User | undefined,
  { id, epoch }: Pick<Session, 'id' | 'epoch'>,
): user is User {
  if (user === undefined || user.disabled) return false;
  return epoch >= user.epoch || id === user.carriedSession;
}

/**
 * The epoch that follows `current`; `now` in epoch ms. An epoch is numbered by the instant at which it begins, so that no
 * number is used twice, even after the records were restored from a backup.
 */
export function nextEpoch(current: number, now: number): number {
  return Math.max(current + 1, now);
}
