import type { Test } from 'tap';
import type { ApiResponse } from '../clients/api-client.ts';
import { claims, es256, forge, header, jwkOf, type ProviderKey } from '../corpora/forged-assertions.ts';
import { logoutClaims, logoutHeader } from '../corpora/forged-logout-tokens.ts';
import { json, publish, type StubProvider, startStubProvider } from '../servers/stub-provider.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';

/** A browser on its way through a sign-in: what it keeps of the start. */
export interface Browser {
  /** Its cookies, as it sends them. */
  cookie?: string;
}

/** What a start's address carries. */
export interface Begun {
  readonly response: ApiResponse;
  readonly nonce: string;
  readonly state: string;
}

/** A gateway whose identity provider says what the test wants. */
export interface ProviderGateway extends TestGateway {
  readonly stub: StubProvider;
  /** Begins a sign-in; the browser keeps the cookie. */
  begin(browser: Browser, options?: { readonly provider?: string; readonly query?: string }): Promise<Begun>;
  /** An assertion of the provider's, good unless `changes` to its claims make it otherwise. */
  assertion(changes?: object, key?: ProviderKey): string;
  /** A logout token of the provider's with a `jti` of its own, by `sub`; good unless `changes` make it otherwise. */
  logoutToken(changes?: object): string;
  /** Sends it to the back-channel logout. */
  logOut(token: string, provider?: string): Promise<ApiResponse>;
  /** Brings the assertion to the exchange, in the query. */
  exchange(browser: Browser, assertion: string, provider?: string): Promise<ApiResponse>;
  /** A whole sign-in, in a browser of its own. */
  signIn(claims?: object, provider?: string): Promise<ApiResponse>;
  /** Makes the token endpoint answer with that assertion. */
  respondToCode(assertion: string): void;
  auditLines(): Record<string, unknown>[];
}

/** Each provider's settings by its name; what isn't given is that of the stub. */
export type ProviderSettings = Record<string, object>;

/** Starts it; by default with one provider, `idp`, that returns assertions. */
export async function startProviderGateway(
  t: Test,
  providers: ProviderSettings = { idp: {} },
  config: object = {},
): Promise<ProviderGateway> {
  const stub = await startStubProvider(t);
  publish(stub, [jwkOf(es256)]);
  const base = {
    issuer: stub.origin,
    client_id: 'postern',
    redirect_uri: 'https://acme.example.com/signed-in',
  };
  const settings = Object.entries(providers).map(([name, changes]) => [name, { ...base, ...changes }]);
  const gateway = await startTestGateway(t, {
    config: { identity_providers: Object.fromEntries(settings), ...config },
  });
  const { api, secrets } = gateway;
  const login = `${api.apiPath}/login`;

  async function begin(
    browser: Browser,
    { provider = 'idp', query = '' }: { readonly provider?: string; readonly query?: string } = {},
  ): Promise<Begun> {
    const response = await api.send({ path: `${login}/${provider}/start${query}`, cookie: browser.cookie });
    if (response.status !== 200) throw new Error(`start was answered ${response.status} ${response.text}`);
    keepCookies(browser, response);
    const { nonce = '', state = '' } = Object.fromEntries(new URL(response.json.url).searchParams);
    return { response, nonce, state };
  }

  function assertion(changes: object = {}, key = es256): string {
    const seconds = Math.floor(Date.now() / 1000);
    const all = { ...claims, iss: stub.origin, iat: seconds, exp: seconds + 300, ...changes };
    const made = forge({ ...header, alg: key.alg, kid: key.kid }, all, key);
    secrets.add(made);
    return made;
  }

  function logoutToken(changes: object = {}): string {
    const seconds = Math.floor(Date.now() / 1000);
    const times = { iat: seconds, exp: seconds + 120, jti: crypto.randomUUID() };
    const all = { ...claims, ...logoutClaims, sid: undefined, iss: stub.origin, ...times, ...changes };
    const made = forge(logoutHeader, all);
    secrets.add(made);
    return made;
  }

  function exchange(browser: Browser, made: string, provider = 'idp'): Promise<ApiResponse> {
    const path = `${login}/${provider}/exchange?assertion=${made}`;
    return api.send({ path, cookie: browser.cookie });
  }

  return {
    ...gateway,
    stub,
    begin,
    assertion,
    logoutToken,
    logOut: (token, provider = 'idp') =>
      api.send({
        method: 'POST',
        path: `${login}/${provider}/back-channel-logout`,
        form: { logout_token: token },
      }),
    exchange,
    async signIn(changes = {}, provider = 'idp') {
      const browser: Browser = {};
      const { nonce } = await begin(browser, { provider });
      return exchange(browser, assertion({ nonce, ...changes }), provider);
    },
    respondToCode(idToken) {
      const tokens = { access_token: 'token-of-the-provider', token_type: 'bearer', id_token: idToken };
      stub.responses.set('/token', json(tokens));
    },
    auditLines: () => gateway.logLines().filter(({ audit }) => audit === true),
  };
}

/** Does what a browser does with the cookies of a response: those cleared go, new ones come last. */
export function keepCookies(browser: Browser, { setCookies }: ApiResponse): void {
  const kept = new Map((browser.cookie ?? '').split('; ').map((pair) => [pair.split('=')[0]!, pair]));
  kept.delete('');
  for (const line of setCookies) {
    const pair = line.split(';', 1)[0]!;
    const name = pair.split('=')[0]!;
    kept.delete(name);
    if (!line.includes('; Max-Age=0;')) kept.set(name, pair);
  }
  browser.cookie = [...kept.values()].join('; ');
}

/** `name=value` of the refresh cookie that a response sets. */
export function refreshCookieOf(response: ApiResponse): string {
  return response.setCookies[0]!.split(';', 1)[0]!;
}

/** The user id that a token of the gateway names. */
export function subjectOf(response: ApiResponse): string {
  const [, payload = ''] = String(response.json.access_token).split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()).sub;
}
