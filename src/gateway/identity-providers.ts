import type { Config, IdentityProviderConfig } from '../config/sections/schema.ts';
import {
  type ClaimSeals,
  createClaimSeals,
  createIdTokenSeals,
  type IdTokenSeals,
} from '../credentials/session-seals.ts';
import { backChannelLogout } from '../endpoints/back-channel-logout.ts';
import { createEndpoint, type Endpoint } from '../endpoints/endpoint.ts';
import type { EndpointParts } from '../endpoints/endpoint-parts.ts';
import { providerExchange, providerExchangeForm } from '../endpoints/provider-exchange.ts';
import {
  createProviderAccounts,
  ProviderSignIn,
  type ProviderSignInOptions,
} from '../endpoints/provider-sign-in.ts';
import { providerStart } from '../endpoints/provider-start.ts';
import {
  createApiStartCookies,
  createPageStartCookies,
  type StartCookies,
} from '../endpoints/start-cookies.ts';
import { IdentityProvider } from '../identity-providers/identity-provider.ts';
import { createProviderNetwork, type ProviderNetwork } from '../identity-providers/provider-network.ts';
import type { ProviderSettings } from '../identity-providers/provider-urls.ts';
import { SignInStarts } from '../identity-providers/sign-in-start.ts';
import { traceNetwork } from '../runtime/spans.ts';
import type { PageProvider } from '../web/page-provider.ts';
import type { SharedParts } from './endpoint-parts.ts';
import { signInSecret } from './sign-in-secret.ts';

/** Endpoints of all identity providers, and the providers that pages offer. */
export interface ProviderEndpoints {
  readonly endpoints: readonly Endpoint<'open'>[];
  /** Providers on Postern's own pages; empty without `web`. */
  readonly onPages: readonly PageProvider[];
  /** Providers on the pages of the console's own origin; empty if it has none. */
  readonly onConsole: readonly PageProvider[];
  close(): Promise<void>;
}

/** Timeout of a DNS lookup, ms: shorter than that of a call to the provider, which then fails with the lookup's error. */
const lookupMs = 3_000;

/** Builds sign-in through the configured providers; no request is sent to them yet. */
export async function composeIdentityProviders(
  config: Config,
  parts: EndpointParts,
  shared: SharedParts,
): Promise<ProviderEndpoints> {
  const secret = await signInSecret(parts.records);
  const starts = new SignInStarts(secret);
  const sealSecret = { secret, tenant: config.tenant };
  const seals = createIdTokenSeals(sealSecret);
  const { seal: sealClaims } = createClaimSeals(sealSecret);
  const providers = Object.entries(config.identity_providers).map(
    ([name, settings]) =>
      new ComposedProvider({ name, settings, config, starts, seals, sealClaims, parts, shared }),
  );
  const { web, base_url: own } = config;
  const consoleOrigin = web?.console?.base_url;
  return {
    endpoints: providers.flatMap((provider) => provider.endpoints()),
    onPages: providers.flatMap((provider) =>
      web === undefined ? [] : provider.onPages(web.path, own, 'pages'),
    ),
    onConsole: providers.flatMap((provider) =>
      consoleOrigin === undefined ? [] : provider.onPages(web!.path, consoleOrigin, 'console'),
    ),
    async close() {
      await Promise.all(providers.map(({ network }) => network.close()));
    },
  };
}

interface ProviderParts {
  readonly name: string;
  readonly settings: IdentityProviderConfig;
  readonly config: Config;
  readonly starts: SignInStarts;
  readonly seals: IdTokenSeals;
  readonly sealClaims: ClaimSeals['seal'];
  readonly parts: EndpointParts;
  readonly shared: SharedParts;
}

/** An identity provider, for sign-ins of the front end and for those on Postern's own pages. */
class ComposedProvider {
  readonly network: ProviderNetwork;
  readonly #options: ProviderParts;
  readonly #provider: IdentityProvider;

  constructor(options: ProviderParts) {
    this.#options = options;
    const { names, tracing } = options.shared;
    const lookup = names.lookupWithin(lookupMs);
    this.network = traceNetwork(createProviderNetwork({ lookup }), tracing);
    // Without `redirect_uri`, which leads to the front end, this object only receives the provider's sign-outs.
    this.#provider = this.#create({ redirect_uri: '', ...options.settings });
  }

  endpoints(): readonly Endpoint<'open'>[] {
    const { name, settings, config, parts } = this.#options;
    const { api_path: apiPath } = config;
    const provider = this.#provider;
    const logout = createEndpoint(backChannelLogout, { ...parts, provider }, apiPath, name);
    if (settings.redirect_uri === undefined) return [logout];
    const startCookies = createApiStartCookies(parts.cookie, apiPath);
    const providerSignIn = new ProviderSignIn(this.#signInOptions(provider, startCookies));
    const ofProvider = { ...parts, provider, providerSignIn, startCookies };
    return [
      createEndpoint(providerStart, ofProvider, apiPath, name),
      createEndpoint(providerExchange, ofProvider, apiPath, name),
      createEndpoint(providerExchangeForm, ofProvider, apiPath, name),
      logout,
    ];
  }

  /**
   * Builds sign-in on Postern's own pages of an origin, below `path`. Sign-in there always uses the authorization code flow (RFC
   * 9700 §2.1.2). A sign-in that starts on pages of one `kind` can't be completed on those of the other.
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
      label: settings.title ?? name,
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
    const { name, starts, shared } = this.#options;
    return new IdentityProvider({
      name,
      settings,
      network: this.network,
      starts,
      singleUse: shared.stores.singleUse,
      log: shared.log,
      now: shared.now,
      ...(startsAs && { startsAs }),
    });
  }

  #signInOptions(provider: IdentityProvider, cookies: StartCookies): ProviderSignInOptions {
    const { name, settings, config, sealClaims, parts, shared } = this.#options;
    const { records, now } = parts;
    const { log } = shared;
    const accounts = createProviderAccounts({
      provider: name,
      accounts: settings.accounts,
      records,
      now,
      log,
    });
    const { base_url: own, cors } = config;
    const isHttps = own.startsWith('https:');
    const isFrontEnd = (origin: string) => origin === own || cors.origins.includes(origin);
    return { ...parts, provider, accounts, cookies, isHttps, isFrontEnd, sealClaims, log };
  }
}
