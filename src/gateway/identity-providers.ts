import { randomBytes } from 'node:crypto';
import type { Audit } from '../administration/audit.ts';
import type { Config, IdentityProviderConfig } from '../config/sections/schema.ts';
import type { RecentUse } from '../credentials/recent-use.ts';
import { createIdTokenSeals, type IdTokenSeals } from '../credentials/sealed-id-token.ts';
import { createBackChannelLogout } from '../endpoints/back-channel-logout.ts';
import type { EndSession } from '../endpoints/end-session.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { createProviderAccounts } from '../endpoints/provider-accounts.ts';
import {
  createProviderExchange,
  type ProviderExchangeOptions,
  ProviderSignIn,
} from '../endpoints/provider-exchange.ts';
import { createProviderStart } from '../endpoints/provider-start.ts';
import type { SignIn } from '../endpoints/sign-in.ts';
import { createPageStartCookies, createStartCookies, type StartCookies } from '../endpoints/start-cookies.ts';
import type { CookieAttributes } from '../http/cookies.ts';
import type { IsKnownOrigin } from '../http/foreign-page.ts';
import type { ProviderSettings } from '../identity-providers/authorization-url.ts';
import { createIdentityProvider, type IdentityProvider } from '../identity-providers/identity-provider.ts';
import { createProviderNetwork, type ProviderNetwork } from '../identity-providers/provider-network.ts';
import { createSignInStarts, type SignInStarts } from '../identity-providers/sign-in-start.ts';
import type { Log } from '../log/log.ts';
import type { GatewayNames } from '../runtime/names.ts';
import { traceNetwork } from '../runtime/spans.ts';
import type { Stores } from '../runtime/stores.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { PageProvider } from '../web/page-provider.ts';

/** What sign-in through providers shares with sign-in by password. */
export interface SignInParts {
  readonly stores: Pick<Stores, 'records' | 'sessions' | 'singleUse'>;
  readonly signIn: SignIn;
  /** The refresh cookie. */
  readonly cookie: CookieAttributes;
  readonly isKnownOrigin: IsKnownOrigin;
  readonly recentUse: RecentUse;
  readonly audit: Audit;
  readonly log: Log;
  readonly tracing: Tracing | null;
  readonly now: () => number;
  readonly endSession: EndSession;
  readonly names: GatewayNames;
}

/** The endpoints of every identity provider. */
export interface ProviderEndpoints {
  readonly endpoints: readonly Endpoint<'open'>[];
  /** Those that Postern's own pages lead to; none without `web`. */
  readonly onPages: readonly PageProvider[];
  /** The same, on the console's own host; none without one. */
  readonly onConsole: readonly PageProvider[];
  /** Ends every call to a provider. */
  close(): Promise<void>;
}

const secretBytes = 32;
/** Less than a call may take, ms: it fails with what failed. */
const lookupMs = 3_000;

/** Builds sign-in through the configured providers; none of them is asked for anything yet. */
export async function composeIdentityProviders(
  config: Config,
  parts: SignInParts,
): Promise<ProviderEndpoints> {
  const secret = await parts.stores.records.secret('sign_in', randomBytes(secretBytes));
  const starts = createSignInStarts({ secret });
  const seals = createIdTokenSeals({ secret, tenant: config.tenant });
  const providers = Object.entries(config.identity_providers).map(
    ([name, settings]) => new ComposedProvider({ name, settings, config, starts, seals, parts }),
  );
  return {
    endpoints: providers.flatMap((provider) => provider.endpoints()),
    onPages:
      config.web === undefined
        ? []
        : providers.map((provider) => provider.onPages(config.web!.path, config.base_url, 'pages')),
    onConsole:
      config.web?.console?.base_url === undefined
        ? []
        : providers.map((provider) =>
            provider.onPages(config.web!.path, config.web!.console!.base_url!, 'console'),
          ),
    async close() {
      await Promise.all(providers.map(({ network }) => network.close()));
    },
  };
}

/** What one provider is built from. */
interface ProviderParts {
  readonly name: string;
  readonly settings: IdentityProviderConfig;
  readonly config: Config;
  readonly starts: SignInStarts;
  readonly seals: IdTokenSeals;
  readonly parts: SignInParts;
}

/** One provider, for the front end's sign-ins and for those of Postern's own pages. */
class ComposedProvider {
  readonly network: ProviderNetwork;
  readonly #options: ProviderParts;
  readonly #provider: IdentityProvider;

  constructor(options: ProviderParts) {
    this.#options = options;
    const { names, tracing } = options.parts;
    const lookup = names.lookupWithin(lookupMs);
    this.network = traceNetwork(createProviderNetwork({ lookup }), tracing);
    // Without a page of the front end it only receives the provider's sign-outs.
    this.#provider = this.#create({ redirect_uri: '', ...options.settings });
  }

  endpoints(): readonly Endpoint<'open'>[] {
    const { settings, parts } = this.#options;
    const provider = this.#provider;
    const logout = createBackChannelLogout({ ...parts, provider, sessions: parts.stores.sessions });
    if (settings.redirect_uri === undefined) return [logout];
    const cookies = createStartCookies(parts.cookie);
    return [
      createProviderStart({ provider, cookies, now: parts.now }),
      ...createProviderExchange(this.#signInOptions(provider, cookies)),
      logout,
    ];
  }

  /**
   * Sign-in on Postern's own pages of that origin, below `path`: always by code (RFC 9700 §2.1.2). What is started on pages of
   * one `kind` can't be completed on others.
   */
  onPages(path: string, origin: string, kind: 'pages' | 'console'): PageProvider {
    const { name, settings, seals, parts } = this.#options;
    const provider = this.#create(
      {
        ...settings,
        response: 'code',
        redirect_uri: `${origin}${path}/callback/${name}`,
        parameters: { ...settings.parameters, response_mode: 'query' },
      },
      `${kind} ${name}`,
    );
    const cookies = createPageStartCookies(parts.cookie, origin, path);
    const sealIdToken = settings.end_session ? seals.seal : undefined;
    return {
      name,
      label: name,
      provider,
      signIn: new ProviderSignIn({ ...this.#signInOptions(provider, cookies), sealIdToken }),
      cookies,
      endSession: settings.end_session
        ? { open: seals.open, url: (asked) => provider.endSessionUrl(asked) }
        : null,
      offersCode: () => this.#provider.offersCode(),
    };
  }

  #create(settings: ProviderSettings, startsAs?: string): IdentityProvider {
    const { name, starts, parts } = this.#options;
    const { singleUse } = parts.stores;
    const { network } = this;
    return createIdentityProvider({
      ...parts,
      name,
      settings,
      network,
      starts,
      singleUse,
      ...(startsAs && { startsAs }),
    });
  }

  #signInOptions(provider: IdentityProvider, cookies: StartCookies): ProviderExchangeOptions {
    const { name, settings, config, parts } = this.#options;
    const { records } = parts.stores;
    const accounts = createProviderAccounts({
      ...parts,
      provider: name,
      accounts: settings.accounts,
      records,
    });
    const { base_url: own, cors } = config;
    const isHttps = own.startsWith('https:');
    const isFrontEnd = (origin: string) => origin === own || cors.origins.includes(origin);
    return { ...parts, provider, accounts, cookies, isHttps, isFrontEnd, records };
  }
}
