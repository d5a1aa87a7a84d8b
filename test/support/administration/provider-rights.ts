import type { Test } from 'tap';
import type { ApiResponse } from '../clients/api-client.ts';
import { sendQuestion } from '../clients/decisions.ts';
import { es256, claims as exampleClaims, forge, header, jwkOf } from '../corpora/forged-assertions.ts';
import { cookieNamed, navigation, ownForm, webCookieName } from '../pages/web.ts';
import { json, publish, type StubProvider, startStubProvider } from '../servers/stub-provider.ts';
import { startUserAdministration, type UserAdministration, userPassword } from './user-administration.ts';

/** A session, by everything that can be done with it. */
export interface Session {
  readonly bearer: string;
  /** `name=value` of the refresh cookie. */
  readonly cookie: string;
}

/** Which of a user's credentials, and what the routes for `store:read` answer to it. */
export type Uses = Readonly<Record<string, number>>;

/** A gateway with a provider of people whose groups grant scopes and sets. */
export interface ProviderRights extends UserAdministration {
  readonly stub: StubProvider;
  /** The configured providers, to be changed by a reload. */
  readonly providers: Readonly<Record<string, object>>;
  /** What else is configured. */
  readonly config: object;
  /** Signs that subject in; the session. */
  signInAt(subject: string, groups?: readonly string[], provider?: string): Promise<Session>;
  /** The same, on the pages: `name=value` of the web cookie. */
  openPagesAt(subject: string, groups: readonly string[]): Promise<string>;
  /** A session by {@link userPassword}. */
  signInBy(username: string, scope?: string): Promise<Session>;
  /** The web cookie of a sign-in by {@link userPassword}. */
  openPages(username: string): Promise<string>;
  /** The user of that name, as administrators read it. */
  userNamed(username: string): Promise<any>;
  /** What each way of using a session gives: the token, a refreshed one, and a question of another proxy. */
  usesOf(session: Session): Promise<Uses>;
  /** What a key gives: as itself, as a bearer token, and in a question of another proxy. */
  usesOfKey(apiKey: string): Promise<Uses>;
  /** The status of the browser route for `store:read`. */
  statusOfPage(webCookie: string): Promise<number>;
}

const store = '/api/store/x';

/** What `admins` and `readers` are granted at `idp`; `open` is the same issuer, which grants nothing. */
const grants = [
  { claim: 'groups', value: 'admins', scope_sets: ['administrator'] },
  { claim: 'groups', value: 'readers', scopes: ['store:read', 'apikeys:write'] },
];

/** Starts it; `stores` are for its gateway. */
export async function startProviderRights(t: Test, stores: object = {}): Promise<ProviderRights> {
  const [stub, elsewhere] = [await startStubProvider(t), await startStubProvider(t)];
  for (const provider of [stub, elsewhere]) publish(provider, [jwkOf(es256)]);
  const common = {
    issuer: stub.origin,
    client_id: 'postern',
    redirect_uri: 'https://acme.example.com/in',
    unsolicited: true,
  };
  const providers = {
    idp: { ...common, grants },
    open: common,
    other: { ...common, issuer: elsewhere.origin },
  };
  const config = {
    ...stores,
    web: {},
    api_keys: { bearer: true },
    forward_auth: [{ mode: 'nginx', port: 0 }],
    routes: [
      { prefix: '/wiki', upstream: 'app', browser: true, scopes: ['store:read'] },
      { prefix: '/api/store', upstream: 'app', scopes: ['store:read'] },
      { prefix: '/api', upstream: 'app' },
    ],
    endpoints: { users: 'own' },
  };
  const gateway = await startUserAdministration(t, { ...config, identity_providers: providers });
  const { api, secrets, users, decisionPorts } = gateway;
  const originOf = (provider: string) => (provider === 'other' ? elsewhere : stub).origin;

  function assertion(subject: string, groups: readonly string[], changes: object): string {
    const iat = Math.floor(Date.now() / 1000);
    const about = { sub: subject, preferred_username: subject, groups, jti: crypto.randomUUID() };
    const made = forge(header, { ...exampleClaims, iat, exp: iat + 300, ...about, ...changes });
    secrets.add(made);
    return made;
  }

  const statusBy = async (who: object, path = store) => (await api.send({ path, ...who })).status;

  async function statusOfQuestion(line: string): Promise<number> {
    const described = ['X-Original-Method: GET', `X-Original-URI: ${store}`, 'X-Forwarded-For: 192.0.2.7'];
    const question = ['Host: app.example', ...described, line];
    return (await sendQuestion(decisionPorts[0]!, 'GET / HTTP/1.1', question)).status;
  }

  return {
    ...gateway,
    stub,
    providers,
    config,
    async signInAt(subject, groups = [], provider = 'idp') {
      const form = { assertion: assertion(subject, groups, { iss: originOf(provider), nonce: undefined }) };
      return sessionOf(await api.send({ method: 'POST', path: `/api/login/${provider}/exchange`, form }));
    },
    async openPagesAt(subject, groups) {
      const left = await api.send({ path: '/postern/sign-in/idp', headers: navigation });
      const { state = '', nonce } = Object.fromEntries(new URL(left.headers.location ?? '').searchParams);
      const idToken = assertion(subject, groups, { iss: stub.origin, nonce });
      stub.responses.set('/token', json({ access_token: 'a', token_type: 'Bearer', id_token: idToken }));
      const cookie = left.setCookies[0]!.split(';', 1)[0]!;
      const headers = { ...navigation, 'sec-fetch-site': 'cross-site' };
      const path = `/postern/callback/idp?code=${crypto.randomUUID()}&state=${state}`;
      return webCookieOf(await api.send({ path, cookie, headers }));
    },
    async signInBy(username, scope) {
      const form = { username, password: userPassword, ...(scope !== undefined && { scope }) };
      return sessionOf(await api.send({ method: 'POST', path: '/api/login/access-token', form }));
    },
    async openPages(username) {
      const form = { username, password: userPassword };
      const path = '/postern/sign-in';
      return webCookieOf(await api.send({ method: 'POST', path, form, headers: ownForm }));
    },
    async userNamed(username) {
      return (await users('GET', `?username__eq=${username}`)).json.items[0];
    },
    async usesOf({ bearer, cookie }) {
      const refreshed = await api.refresh(cookie);
      return {
        token: await statusBy({ bearer }),
        'refreshed token': await statusBy({ bearer: refreshed.json.access_token }),
        decision: await statusOfQuestion(`Authorization: Bearer ${bearer}`),
      };
    },
    async usesOfKey(apiKey) {
      return {
        key: await statusBy({ apiKey }),
        'key as bearer': await statusBy({ bearer: apiKey }),
        decision: await statusOfQuestion(`X-API-Key: ${apiKey}`),
      };
    },
    statusOfPage: (cookie) => statusBy({ cookie, headers: navigation }, '/wiki/x'),
  };
}

function sessionOf(response: ApiResponse): Session {
  if (response.status !== 200)
    throw new Error(`the sign-in was answered ${response.status} ${response.text}`);
  return { bearer: response.json.access_token, cookie: response.setCookies[0]!.split(';', 1)[0]! };
}

function webCookieOf(response: ApiResponse): string {
  const cookie = cookieNamed(response, webCookieName);
  if (cookie === undefined) throw new Error(`no web cookie: ${response.status} ${response.text}`);
  return cookie;
}
