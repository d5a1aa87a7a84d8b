import type { Config } from '../config/sections/schema.ts';
import type { KeyTimes } from '../stores/key-schedule.ts';
import type { KeySeries } from '../stores/signing-key.ts';

/** A series of keys, and when they are replaced. */
export interface PlannedSeries {
  readonly series: KeySeries;
  readonly times: KeyTimes;
}

/** What a configuration says of keys. */
export type KeySettings = Pick<Config, 'tokens' | 'sessions' | 'signing_keys' | 'upstreams' | 'forward_auth'>;

/** The series that a configuration signs with. */
export function plannedSeries(config: KeySettings): readonly PlannedSeries[] {
  const { tokens, sessions } = config;
  return [
    planned({ purpose: 'access-token', algorithm: tokens.algorithm }, tokens.access_lifetime, config),
    planned({ purpose: 'cookie', algorithm: 'HS256' }, sessions.absolute_lifetime, config),
    ...assertionSeries(config),
  ];
}

/** One for each algorithm with key pairs; what upstreams sign and verify by secrets isn't Postern's to replace. */
function assertionSeries(config: KeySettings): readonly PlannedSeries[] {
  const longest = new Map<'EdDSA' | 'ES256', number>();
  for (const { assertion } of [...Object.values(config.upstreams), ...config.forward_auth]) {
    if (assertion === undefined || assertion.algorithm === 'HS256') continue;
    const { algorithm, lifetime } = assertion;
    longest.set(algorithm, Math.max(lifetime, longest.get(algorithm) ?? 0));
  }
  return [...longest].map(([algorithm, lifetimeMs]) =>
    planned({ purpose: 'assertion', algorithm }, lifetimeMs, config),
  );
}

/** When the keys of any series are replaced: those that the configuration doesn't sign with are not. */
export function timesOf(series: KeySeries, config: KeySettings): KeyTimes {
  const isUsed = (each: PlannedSeries) =>
    each.series.purpose === series.purpose && each.series.algorithm === series.algorithm;
  return plannedSeries(config).find(isUsed)?.times ?? timesWith(null, config);
}

function planned(series: KeySeries, lifetimeMs: number, config: KeySettings): PlannedSeries {
  // A gateway without the store still signs with the key it knows, for as long as the users it knows count.
  return { series, times: timesWith(lifetimeMs + config.sessions.stale_if_error, config) };
}

function timesWith(lifetimeMs: number | null, { signing_keys: keys }: KeySettings): KeyTimes {
  return { rotateEveryMs: keys.rotate_every, publishAheadMs: keys.publish_ahead, lifetimeMs };
}
