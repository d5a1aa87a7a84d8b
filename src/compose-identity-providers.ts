import { randomBytes } from 'node:crypto';
import type { Config } from './config/schema.ts';
import type { RecentUse } from './credentials/recent-use.ts';
import type { Audit } from './endpoints/audit.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import { createProviderAccounts } from './endpoints/provider-accounts.ts';
import { createProviderExchange } from './endpoints/provider-exchange.ts';
import { createProviderStart } from './endpoints/provider-start.ts';
import type { SignIn } from './endpoints/sign-in.ts';
import type { CookieAttributes } from './http/cookies.ts';
import type { IsKnownOrigin } from './http/foreign-page.ts';
import { createIdentityProvider } from './identity-providers/identity-provider.ts';
import { createProviderNetwork } from './identity-providers/provider-network.ts';
import { createSignInStarts } from './identity-providers/sign-in-start.ts';
import type { Log } from './log.ts';
import type { Stores } from './open-stores.ts';
import { traceNetwork } from './traced-parts.ts';
import type { Tracing } from './tracing/tracing.ts';

/** What sign-in through providers shares with sign-in by password. */
export interface SignInParts {
  readonly stores: Pick<Stores, 'records' | 'singleUse'>;
  readonly signIn: SignIn;
  /** The refresh cookie. */
  readonly cookie: CookieAttributes;
  readonly isKnownOrigin: IsKnownOrigin;
  readonly recentUse: RecentUse;
  readonly audit: Audit;
  readonly log: Log;
  readonly tracing: Tracing | null;
  readonly now: () => number;
}

/** The endpoints of every identity provider. */
export interface ProviderEndpoints {
  readonly endpoints: readonly Endpoint[];
  /** Ends every call to a provider. */
  close(): Promise<void>;
}

const secretBytes = 32;

/** Builds sign-in through the configured providers; none of them is asked for anything yet. */
export async function composeIdentityProviders(
  config: Config,
  parts: SignInParts,
): Promise<ProviderEndpoints> {
  const { stores, signIn, recentUse, audit, log, tracing, now } = parts;
  const { records, singleUse } = stores;
  const starts = createSignInStarts({
    secret: await records.secret('sign_in', randomBytes(secretBytes)),
  });
  const cookie = signInCookie(parts.cookie);
  const providers = Object.entries(config.identity_providers).map(([name, settings]) => {
    const network = traceNetwork(createProviderNetwork(), tracing);
    const burn = (id: string, expires: number) => singleUse.burn(id, expires);
    const provider = createIdentityProvider({ name, settings, network, starts, burn, now, log });
    return { name, settings, network, provider };
  });
  // The longest there is: a start at one provider must not cut short what was begun at another.
  const cookieLifetimeMs = Math.max(...providers.map(({ settings }) => settings.start_lifetime));
  return {
    endpoints: providers.flatMap(({ name, settings, provider }) => [
      createProviderStart({ provider, starts, cookie, cookieLifetimeMs }),
      ...createProviderExchange({
        provider,
        accounts: createProviderAccounts({
          provider: name,
          accounts: settings.accounts,
          records,
          now,
          log,
        }),
        cookieName: cookie.name,
        signIn,
        recentUse,
        audit,
        now,
      }),
    ]),
    async close() {
      await Promise.all(providers.map(({ network }) => network.close()));
    },
  };
}

/** The cookie that binds starts to their browser, and never leaves this host. */
function signInCookie({ name, secure, sameSite }: CookieAttributes): CookieAttributes {
  // Browsers drop a __Host- cookie with another path (draft-ietf-httpbis-rfc6265bis §4.1.3.2).
  const path = /^__host-/i.test(name) ? '/' : '/api/login';
  return { name: `${name}_login`, path, domain: null, secure, sameSite };
}
