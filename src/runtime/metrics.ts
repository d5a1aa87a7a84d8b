import { readFileSync } from 'node:fs';
import type { KeyVerification } from '../authenticate/api-key.ts';
import type { WorkLoad } from '../credentials/work-queue.ts';
import type { RefreshOutcome } from '../endpoints/endpoint-parts.ts';
import { refusals } from '../errors.ts';
import type { ConnectionLoad } from '../http1/client/client-pool.ts';
import { DecisionCounts } from '../metrics/decisions.ts';
import { Durations } from '../metrics/durations.ts';
import { type Counts, MetricsRegistry, zeroCounts } from '../metrics/registry.ts';
import { RequestCounts } from '../metrics/requests.ts';

/** Values of the serving gateway that metrics read when scraped. */
export interface WatchedGateway {
  readonly upstreams: readonly { readonly name: string; load(): ConnectionLoad }[];
  /** Number of sessions for which an unexpired token was seen. */
  activeSessions(): number;
  passwordHashes(): WorkLoad;
}

/** Stands for the gateway until the first one is composed. */
export const noGateway: WatchedGateway = {
  upstreams: [],
  activeSessions: () => 0,
  passwordHashes: () => ({ running: 0, waiting: 0 }),
};

/** Counters of a gateway's parts; docs/metrics.md explains each metric. */
export interface GatewayMetrics {
  readonly registry: MetricsRegistry;
  readonly requests: RequestCounts;
  readonly decisions: DecisionCounts;
  readonly refreshes: Counts<RefreshOutcome>;
  readonly keyVerifications: Counts<KeyVerification>;
  /** The counts of a sign-in method, zero at first: `password` or the name of a configured provider. */
  loginsBy(method: string): Counts<'success' | 'failure'>;
  /** Records that a session ended `afterMs` ago, in any process. */
  revocationSeen(afterMs: number): void;
  /** Adds the gauges of a listener's connections, and of the maximum that it accepts. */
  watchConnections(listener: { readonly sockets: number }, most: { readonly connections: number }): void;
}

/** Creates the metrics; both functions are called only when metrics are scraped. */
export function createGatewayMetrics(
  openStreams: () => number,
  gateway: () => WatchedGateway,
): GatewayMetrics {
  const registry = new MetricsRegistry();
  addBuildInfo(registry);
  addGauges(registry, openStreams, gateway);
  const refreshes = registry.counts(
    'outcome',
    'refreshes_total',
    'Refresh cookies presented, by outcome: current, rotated, reused, refused.',
    ['current', 'rotated', 'reused', 'refused'],
  );
  registry.add({
    name: 'reuse_alarms_total',
    help: 'Reused refresh cookies, each of which ended its session.',
    type: 'counter',
    collect: () => [{ labels: {}, value: refreshes.reused }],
  });
  return {
    registry,
    requests: new RequestCounts(registry, [...Object.keys(refusals), 'validation_error']),
    decisions: new DecisionCounts(registry),
    refreshes,
    keyVerifications: registry.counts(
      'outcome',
      'key_verifications_total',
      'API keys judged, by outcome: accepted, refused.',
      ['accepted', 'refused'],
    ),
    loginsBy: addLogins(registry),
    revocationSeen: addRevocations(registry),
    watchConnections(listener, most) {
      registry.gauge('connections', 'Open client connections.', () => listener.sockets);
      registry.gauge('connections_max', 'Maximum number of client connections.', () => most.connections);
    },
  };
}

function addGauges(
  registry: MetricsRegistry,
  openStreams: () => number,
  gateway: () => WatchedGateway,
): void {
  registry.gauge('open_streams', 'Authenticated requests in flight.', openStreams);
  registry.gauge(
    'active_sessions',
    'Sessions of which this process has seen an access token that has not expired.',
    () => gateway().activeSessions(),
  );
  registry.gaugeBy('state', 'password_hashes', 'Password hashes by state: running, waiting.', () =>
    Object.entries(gateway().passwordHashes()),
  );
  registry.add({
    name: 'upstream_connections',
    help: 'Connections to the upstream, by state: busy, free, upgraded.',
    type: 'gauge',
    collect: () =>
      gateway().upstreams.flatMap((upstream) => {
        const { busy, free, upgraded } = upstream.load();
        return Object.entries({ busy, free, upgraded }).map(([state, value]) => ({
          labels: { upstream: upstream.name, state },
          value,
        }));
      }),
  });
  registry.gaugeBy('upstream', 'upstream_waiting', 'Requests waiting for a connection to the upstream.', () =>
    gateway().upstreams.map((upstream) => [upstream.name, upstream.load().waiting]),
  );
}

function addBuildInfo(registry: MetricsRegistry): void {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  registry.add({
    name: 'build_info',
    help: 'Always 1: the versions of Postern and Node are its labels.',
    type: 'gauge',
    combination: 'max',
    collect: () => [{ labels: { version, node: process.versions.node }, value: 1 }],
  });
}

function addLogins(registry: MetricsRegistry): GatewayMetrics['loginsBy'] {
  const methods = new Map<string, ReturnType<GatewayMetrics['loginsBy']>>();
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
    help: 'Time from the end of a session, in any process, until this process was notified.',
    type: 'histogram',
    collect: (name) => durations.samples(name, {}),
  });
  return (afterMs) => durations.record(afterMs);
}
