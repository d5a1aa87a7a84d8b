import type { Config } from '../config/sections/schema.ts';
import type { KeyTimes } from '../stores/key-schedule.ts';
import { isOfSeries, type KeySeries } from '../stores/signing-keys.ts';

/** A series of keys, and the times that govern their replacement. */
export interface PlannedSeries {
  readonly series: KeySeries;
  readonly times: KeyTimes;
}

/** Settings of a configuration that decide which keys there are. */
export type KeySettings = Pick<Config, 'tokens' | 'sessions' | 'signing_keys' | 'upstreams' | 'forward_auth'>;

/** The series that a configuration signs with. */
export function plannedSeries(config: KeySettings): readonly PlannedSeries[] {
  const { tokens, sessions } = config;
  // While the store is unavailable, a gateway still signs with the key it knows, for up to `stale_if_error`.
  const planned = (series: KeySeries, lifetimeMs: number) => ({
    series,
    times: timesWith(lifetimeMs + sessions.stale_if_error, config),
  });
  return [
    planned({ purpose: 'access-token', algorithm: tokens.algorithm }, tokens.access_lifetime),
    planned({ purpose: 'cookie', algorithm: 'HS256' }, sessions.absolute_lifetime),
    ...[...assertionLifetimes(config)].map(([algorithm, lifetimeMs]) =>
      planned({ purpose: 'assertion', algorithm }, lifetimeMs),
    ),
  ];
}

/** The times of any series. If the configuration doesn't sign with it, `lifetimeMs` is null, and its keys are not replaced. */
export function timesOf(series: KeySeries, config: KeySettings): KeyTimes {
  const planned = plannedSeries(config).find((each) => isOfSeries(each.series, series));
  return planned?.times ?? timesWith(null, config);
}

/** The longest lifetime of assertions, ms, for each algorithm with key pairs; HS256 secrets aren't Postern's to replace. */
function assertionLifetimes(config: KeySettings): ReadonlyMap<'EdDSA' | 'ES256', number> {
  const longest = new Map<'EdDSA' | 'ES256', number>();
  for (const { assertion } of [...Object.values(config.upstreams), ...config.forward_auth]) {
    if (assertion === undefined || assertion.algorithm === 'HS256') continue;
    const { algorithm, lifetime } = assertion;
    longest.set(algorithm, Math.max(lifetime, longest.get(algorithm) ?? 0));
  }
  return longest;
}

function timesWith(lifetimeMs: number | null, { signing_keys: keys }: KeySettings): KeyTimes {
  return { rotateEveryMs: keys.rotate_every, publishAheadMs: keys.publish_ahead, lifetimeMs };
}
