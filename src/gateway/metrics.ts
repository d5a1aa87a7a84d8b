import { readFileSync } from 'node:fs';
import type { KeyVerification } from '../authenticate/api-key.ts';
import type { WorkLoad } from '../credentials/work-queue.ts';
import type { RefreshOutcome } from '../endpoints/refresh.ts';
import { refusals } from '../errors.ts';
import { Durations } from '../metrics/durations.ts';
import type { PoolLoad } from '../metrics/registry.ts';
import { type Counts, createMetricsRegistry, type MetricsRegistry, zeroCounts } from '../metrics/registry.ts';
import { createRequestCounts, type RequestCounts } from '../metrics/requests.ts';

/** What can only be asked of the gateway that serves when metrics are scraped. */
export interface WatchedGateway {
  readonly upstreams: readonly { readonly name: string; load(): PoolLoad }[];
  /** Sessions that an unexpired token was seen of. */
  activeSessions(): number;
  passwordHashes(): WorkLoad;
}

/** While there is none yet. */
export const noGateway: WatchedGateway = {
  upstreams: [],
  activeSessions: () => 0,
  passwordHashes: () => ({ running: 0, waiting: 0 }),
};

/** What sign-ins came to. */
export type LoginOutcome = 'success' | 'failure';

/** What the parts of a gateway count; docs/metrics.md says what each is good for. */
export interface GatewayMetrics {
  readonly registry: MetricsRegistry;
  readonly requests: RequestCounts;
  readonly refreshes: Counts<RefreshOutcome>;
  readonly keyVerifications: Counts<KeyVerification>;
  /** The counts of a way to sign in, at 0 until then: `password` or the name of a configured provider. */
  loginsBy(method: string): Counts<LoginOutcome>;
  /** A session ended `afterMs` ago, in whichever process. */
  revocationSeen(afterMs: number): void;
  /** Something was read again, and is used from now on or can't be. */
  reloaded(what: Reloaded, outcome: 'applied' | 'failed'): void;
  /** How much of the configuration counts from the next start on only. */
  restartNeeded(keys: number): void;
}

/** What is read again while the gateway runs. */
export type Reloaded = 'configuration' | 'certificate';

/** Creates them; `read` is asked when metrics are scraped, and not before. */
export function createGatewayMetrics(read: {
  readonly openStreams: () => number;
  readonly gateway: () => WatchedGateway;
}): GatewayMetrics {
  const registry = createMetricsRegistry();
  addBuildInfo(registry);
  addGauges(registry, read);
  const reloads = addReloads(registry);
  const refreshes = registry.counts(
    'outcome',
    'refreshes_total',
    'Refresh cookies presented, by outcome: current, rotated, reused, refused.',
    ['current', 'rotated', 'reused', 'refused'],
  );
  registry.add({
    name: 'reuse_alarms_total',
    help: 'Refresh cookies that were used again too late, each of which ended its session.',
    type: 'counter',
    collect: () => [{ labels: {}, value: refreshes.reused }],
  });
  return {
    registry,
    requests: createRequestCounts(registry, [...Object.keys(refusals), 'validation_error']),
    refreshes,
    keyVerifications: registry.counts(
      'outcome',
      'key_verifications_total',
      'API keys judged, by outcome: accepted, refused.',
      ['accepted', 'refused'],
    ),
    loginsBy: addLogins(registry),
    revocationSeen: addRevocations(registry),
    ...reloads,
  };
}

function addGauges(
  registry: MetricsRegistry,
  { openStreams, gateway }: { readonly openStreams: () => number; readonly gateway: () => WatchedGateway },
): void {
  registry.gauge('open_streams', 'Authenticated requests in flight.', openStreams);
  registry.gauge(
    'active_sessions',
    'Sessions that this process saw alive by an access token that has not expired.',
    () => gateway().activeSessions(),
  );
  registry.gaugeBy('state', 'password_hashes', 'Password hashes by state: running, waiting.', () =>
    Object.entries(gateway().passwordHashes()),
  );
  registry.add({
    name: 'upstream_connections',
    help: 'Connections to the upstream, by state: busy, free.',
    type: 'gauge',
    collect: () =>
      gateway().upstreams.flatMap((upstream) => {
        const { busy, free } = upstream.load();
        return Object.entries({ busy, free }).map(([state, value]) => ({
          labels: { upstream: upstream.name, state },
          value,
        }));
      }),
  });
  registry.gaugeBy(
    'upstream',
    'upstream_waiting',
    'Requests that wait for a connection to the upstream.',
    () => gateway().upstreams.map((upstream) => [upstream.name, upstream.load().waiting]),
  );
}

function addBuildInfo(registry: MetricsRegistry): void {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  registry.add({
    name: 'build_info',
    help: 'Always 1: the versions of Postern and Node are its labels.',
    type: 'gauge',
    collect: () => [{ labels: { version, node: process.versions.node }, value: 1 }],
  });
}

function addLogins(registry: MetricsRegistry): GatewayMetrics['loginsBy'] {
  const methods = new Map<string, Counts<LoginOutcome>>();
  registry.add({
    name: 'logins_total',
    help: 'Sign-ins judged, by method (password, or the name of a provider) and outcome: success, failure.',
    type: 'counter',
    collect: () =>
      [...methods].flatMap(([method, counts]) =>
        Object.entries(counts).map(([outcome, value]) => ({ labels: { method, outcome }, value })),
      ),
  });
  return (method) => {
    const counts = methods.get(method) ?? zeroCounts(['success', 'failure']);
    methods.set(method, counts);
    return counts;
  };
}

function addRevocations(registry: MetricsRegistry): GatewayMetrics['revocationSeen'] {
  const durations = new Durations([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]);
  registry.add({
    name: 'revocation_seen_seconds',
    help: 'Time from the end of a session, in whichever process, until this one was told of it.',
    type: 'histogram',
    collect: (name) => durations.samples(name, {}),
  });
  return (afterMs) => durations.note(afterMs);
}

function addReloads(registry: MetricsRegistry): Pick<GatewayMetrics, 'reloaded' | 'restartNeeded'> {
  const reloads = registry.counts('outcome', 'config_reloads_total', 'Reloads by outcome: applied, failed.', [
    'applied',
    'failed',
  ]);
  const failing = new Set<Reloaded>();
  let waiting = 0;
  registry.gauge(
    'config_last_reload_successful',
    '1 while the configuration and certificate that were read last are those that serve, otherwise 0.',
    () => (failing.size === 0 ? 1 : 0),
  );
  registry.gauge(
    'config_restart_needed',
    'How many keys of the configuration that serves need a restart to count.',
    () => waiting,
  );
  return {
    reloaded(what, outcome) {
      reloads[outcome]++;
      if (outcome === 'failed') failing.add(what);
      // A new configuration is taken with its certificate, or not at all.
      else if (what === 'configuration') failing.clear();
      else failing.delete(what);
    },
    restartNeeded(keys) {
      waiting = keys;
    },
  };
}
