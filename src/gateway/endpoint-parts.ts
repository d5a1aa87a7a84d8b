import type { AccessTokens } from '../credentials/access-token.ts';
import type { CookieSecrets } from '../credentials/cookie-secrets.ts';
import type { Holdings } from '../credentials/holdings.ts';
import type { RecentUse } from '../credentials/recent-use.ts';
import type { CookieAttributes } from '../http/cookies.ts';
import type { IsKnownOrigin } from '../http/foreign-page.ts';
import type { Log } from '../log/log.ts';
import type { AuditTrail } from '../runtime/audit-trail.ts';
import type { GatewayMetrics } from '../runtime/metrics.ts';
import type { GatewayNames } from '../runtime/names.ts';
import type { Stores } from '../runtime/stores.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { Assertions } from './assertions.ts';
import type { BrowserParts } from './browser.ts';

/** What the endpoints share with the request path. */
export interface EndpointParts {
  readonly stores: Stores;
  readonly tokens: AccessTokens;
  readonly assertions: Pick<Assertions, 'published'>;
  readonly cookieSecrets: CookieSecrets;
  readonly recentUse: RecentUse;
  readonly catalogue: ReadonlySet<string>;
  readonly holdings: Holdings;
  readonly cookie: CookieAttributes;
  readonly isKnownOrigin: IsKnownOrigin;
  readonly web: BrowserParts['web'];
  readonly log: Log;
  readonly auditTrail: AuditTrail;
  readonly metrics: Pick<GatewayMetrics, 'refreshes' | 'loginsBy'>;
  readonly names: GatewayNames;
  readonly tracing: Tracing | null;
  readonly now: () => number;
  /** Ends everything that a session or key has in flight. */
  readonly onCredentialEnded: (credentialId: string) => void;
}
