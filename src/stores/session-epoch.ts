import type { Session } from './sessions.ts';
import type { User } from './user.ts';

/**
 * True if the user's record lets the session live, which the session store alone can't say: it may have been unavailable
 * when the user's sessions were ended. `user` is undefined once the user has been removed.
 */
export function admitsSession(
  user: User | undefined,
  { id, epoch }: Pick<Session, 'id' | 'epoch'>,
): user is User {
  if (user === undefined || user.disabled) return false;
  return epoch >= user.epoch || id === user.carriedSession;
}

/**
 * The epoch after `current`; `now` in epoch ms. An epoch is the instant at which it began, so that none is given twice,
 * even after the records were restored from a backup.
 */
export function nextEpoch(current: number, now: number): number {
  return Math.max(current + 1, now);
}
