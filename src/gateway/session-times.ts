import type { Config } from '../config/sections/schema.ts';
import type { SessionTimes } from '../stores/sessions.ts';

/** The lifetimes of sessions under a configuration. */
export function sessionTimesOf({ sessions }: Pick<Config, 'sessions'>): SessionTimes {
  return {
    idleLifetimeMs: sessions.idle_lifetime,
    absoluteLifetimeMs: sessions.absolute_lifetime,
    reuseGraceMs: sessions.reuse_grace,
  };
}
