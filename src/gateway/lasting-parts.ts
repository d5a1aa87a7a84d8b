import type { RecentUse } from '../credentials/recent-use.ts';
import type { KnownKeys } from '../credentials/signing-keys.ts';
import type { Log } from '../log/log.ts';
import type { OpenStreams } from '../proxy/open-streams.ts';
import type { AuditTrail } from '../runtime/audit-trail.ts';
import type { Descriptors } from '../runtime/descriptors.ts';
import type { Engine } from '../runtime/engine.ts';
import type { GatewayMetrics } from '../runtime/metrics.ts';
import type { GatewayNames } from '../runtime/names.ts';
import type { Stores } from '../runtime/stores.ts';
import type { Tracing } from '../tracing/tracing.ts';

/** Parts that outlive a configuration: a reload builds another gateway around them. */
export interface LastingParts {
  readonly engine: Engine;
  readonly descriptors: Descriptors;
  readonly names: GatewayNames;
  readonly stores: Stores;
  readonly keys: KnownKeys;
  readonly recentUse: RecentUse;
  /** Names of Postern's own cookies under all configurations since the start: browsers may still send old ones. */
  readonly cookieNames: Set<string>;
  /** Name prefixes, under all configurations since the start, of the cookies that bind a sign-in to its browser. */
  readonly startCookiePrefixes: Set<string>;
  readonly streams: OpenStreams;
  readonly log: Log;
  readonly auditTrail: AuditTrail;
  readonly metrics: GatewayMetrics;
  /** Null: nothing is traced. */
  readonly tracing: Tracing | null;
  /** The name of this gateway in `Postern-Via`, the same in all its processes. */
  readonly via: string;
  /** True if `builtin:echo` shows browsers a page, as in the quick start; programs always get JSON. */
  readonly showsEchoPage: boolean;
  /** The clock, epoch ms. */
  readonly now: () => number;
}
