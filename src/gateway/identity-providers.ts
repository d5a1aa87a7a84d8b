import { randomBytes } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import type { RecentUse } from '../credentials/recent-use.ts';
import type { Audit } from '../endpoints/audit.ts';
import { createBackChannelLogout } from '../endpoints/back-channel-logout.ts';
import type { ChangeAudit } from '../endpoints/change-audit.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { createProviderAccounts } from '../endpoints/provider-accounts.ts';
import { createProviderExchange } from '../endpoints/provider-exchange.ts';
import { createProviderStart } from '../endpoints/provider-start.ts';
import type { SignIn } from '../endpoints/sign-in.ts';
import { createStartCookies } from '../endpoints/start-cookies.ts';
import type { CookieAttributes } from '../http/cookies.ts';
import type { IsKnownOrigin } from '../http/foreign-page.ts';
import { createIdentityProvider } from '../identity-providers/identity-provider.ts';
import { createProviderNetwork } from '../identity-providers/provider-network.ts';
import { createSignInStarts } from '../identity-providers/sign-in-start.ts';
import type { Log } from '../log/log.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { traceNetwork } from './spans.ts';
import type { Stores } from './stores.ts';

/** What sign-in through providers shares with sign-in by password. */
export interface SignInParts {
  readonly stores: Pick<Stores, 'records' | 'sessions' | 'singleUse'>;
  readonly signIn: SignIn;
  /** The refresh cookie. */
  readonly cookie: CookieAttributes;
  readonly isKnownOrigin: IsKnownOrigin;
  readonly recentUse: RecentUse;
  readonly audit: Audit;
  readonly changeAudit: ChangeAudit;
  readonly log: Log;
  readonly tracing: Tracing | null;
  readonly now: () => number;
  /** Ends everything that a session has in flight. */
  readonly onCredentialEnded: (credentialId: string) => void;
}

/** The endpoints of every identity provider. */
export interface ProviderEndpoints {
  readonly endpoints: readonly Endpoint<'open'>[];
  /** Ends every call to a provider. */
  close(): Promise<void>;
}

const secretBytes = 32;

/** Builds sign-in through the configured providers; none of them is asked for anything yet. */
export async function composeIdentityProviders(
  config: Config,
  parts: SignInParts,
): Promise<ProviderEndpoints> {
  const { stores, signIn, isKnownOrigin, recentUse, audit, changeAudit, log, tracing, now } = parts;
  const { records, sessions, singleUse } = stores;
  const starts = createSignInStarts({
    secret: await records.secret('sign_in', randomBytes(secretBytes)),
  });
  const cookies = createStartCookies(parts.cookie);
  const providers = Object.entries(config.identity_providers).map(([name, settings]) => {
    const network = traceNetwork(createProviderNetwork(), tracing);
    const provider = createIdentityProvider({ name, settings, network, starts, singleUse, now, log });
    return { name, settings, network, provider };
  });
  return {
    endpoints: providers.flatMap(({ name, settings, provider }) => [
      createProviderStart({ provider, cookies, now }),
      createBackChannelLogout({
        provider,
        sessions,
        records,
        audit,
        onSessionEnded: parts.onCredentialEnded,
      }),
      ...createProviderExchange({
        provider,
        accounts: createProviderAccounts({
          provider: name,
          accounts: settings.accounts,
          records,
          now,
          log,
        }),
        cookies,
        isKnownOrigin,
        isHttps: config.base_url.startsWith('https:'),
        signIn,
        recentUse,
        records,
        audit,
        changeAudit,
        now,
      }),
    ]),
    async close() {
      await Promise.all(providers.map(({ network }) => network.close()));
    },
  };
}
