import { randomBytes } from 'node:crypto';
import type { Config } from '../config/sections/schema.ts';
import type { AnyEndpoint, Endpoint } from '../endpoints/endpoint.ts';
import type { PasswordSignIn } from '../endpoints/login.ts';
import { createPageStartCookies, createStartCookies } from '../endpoints/start-cookies.ts';
import type { CookieAttributes } from '../http/cookies.ts';
import type { Log } from '../log/log.ts';
import type { Records } from '../stores/records.ts';
import type { Sessions } from '../stores/sessions.ts';
import type { WebArea } from '../web/area.ts';
import { BrowserSessions, type BrowserSessionsOptions } from '../web/browser-sessions.ts';
import { createActivationPage } from '../web/endpoints/activation.ts';
import { createConsole } from '../web/endpoints/console.ts';
import { createAssetFiles, createDocumentFile } from '../web/endpoints/files.ts';
import { createHome } from '../web/endpoints/home.ts';
import { createInvitationPage } from '../web/endpoints/invitation.ts';
import { createPasswordPage } from '../web/endpoints/own-password.ts';
import { createProviderPages } from '../web/endpoints/provider.ts';
import { createRenderSignIn, createWaysToSignIn } from '../web/endpoints/render-sign-in.ts';
import { createSignInPage } from '../web/endpoints/sign-in.ts';
import { createSignOut } from '../web/endpoints/sign-out.ts';
import { createOfferedProviders } from '../web/offered-providers.ts';
import type { PageProvider } from '../web/page-provider.ts';

/** What the pages for people share with the API. */
export interface WebEndpointParts extends Omit<BrowserSessionsOptions, 'startCookiesAt'> {
  readonly area: WebArea;
  /** The refresh cookie. */
  readonly cookie: CookieAttributes;
  readonly records: Pick<Records, 'bootstrap' | 'findUser' | 'findInvitation'>;
  readonly login: PasswordSignIn;
  /** The endpoints of the API, which the forms call. */
  readonly api: readonly AnyEndpoint[];
  readonly document: () => object;
  readonly providers: readonly PageProvider[];
  /** The same, as the console's own host leads to them; empty: it has none. */
  readonly consoleProviders: readonly PageProvider[];
  readonly sessionStore: Pick<Sessions, 'find'>;
  readonly log: Pick<Log, 'warn'>;
}

/** The optional endpoints that Postern serves itself. */
function servedBy({ endpoints }: Config): readonly string[] {
  return Object.entries(endpoints).flatMap(([name, by]) => (by === 'own' ? [name] : []));
}

/** The endpoints of `web`, as far as what they call is Postern's. */
export function webEndpoints(config: Config, parts: WebEndpointParts): readonly Endpoint<'open'>[] {
  const { area, records, api, document, providers, consoleProviders } = parts;
  const startCookiesAt = (host: string) => [
    createPageStartCookies(parts.cookie, area.originAt(host), area.path),
    createStartCookies(parts.cookie),
  ];
  const sessions = new BrowserSessions({ ...parts, startCookiesAt });
  const login = config.web?.password === false ? null : parts.login;
  const minPasswordLength = config.passwords.min_length;
  const offered = createOfferedProviders(providers, parts.log);
  const waysOf = createWaysToSignIn(area, login !== null, offered);
  const renderSignIn = createRenderSignIn(area, waysOf);
  const common = { ...parts, sessions, login, minPasswordLength, waysOf, renderSignIn };
  const newState = () => randomBytes(16).toString('base64url');
  const called = <E extends AnyEndpoint>(method: E['method'], path: string) =>
    api.find((endpoint) => endpoint.method === method && endpoint.path === path) as E | undefined;
  const activate = called<Endpoint<'open'>>('POST', '/api/bootstrap/activate');
  const redeem = called<Endpoint<'open'>>('POST', '/api/login/invitation');
  const change = called<Endpoint<'session'>>('PUT', '/api/self/password');
  return [
    createHome({ area, sessions, records, hasPasswordPage: change !== undefined }),
    ...createSignInPage(common),
    ...providers.flatMap((provider, index) => {
      const onConsole = consoleProviders[index] ?? provider;
      const providerAt = (host: string) => (area.originAt(host) === config.base_url ? provider : onConsole);
      return createProviderPages(provider.name, providerAt, common);
    }),
    ...createSignOut({ ...common, newState }),
    ...createConsole({
      ...common,
      baseUrl: config.base_url,
      served: servedBy(config),
      providers: providers.map(({ name }) => name),
    }),
    ...(activate === undefined ? [] : createActivationPage({ ...common, activate })),
    ...(redeem === undefined ? [] : createInvitationPage({ ...common, redeem })),
    ...(change === undefined ? [] : createPasswordPage({ ...common, change })),
    createAssetFiles(area),
    createDocumentFile(area.path, document),
  ];
}
