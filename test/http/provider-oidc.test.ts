import t, { type Test } from 'tap';
import { clientSecret } from '../../examples/identity-provider/provider.ts';
import { createHttpBrowser, type HttpBrowser } from '../support/clients/http-browser.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { startOidcProvider } from '../support/servers/oidc-provider.ts';

const provider = await startOidcProvider(t);

/** A gateway in front of the provider, with one configured provider for each of its clients. */
async function setUp(t: Test) {
  const common = {
    issuer: provider.issuer,
    redirect_uri: provider.redirectUri,
    scopes: ['openid', 'profile', 'email', 'groups'],
    require: { email_verified: true },
    grants: [{ claim: 'groups', value: 'staff', scopes: ['store:read'] }],
  };
  const gateway = await startTestGateway(t, {
    config: {
      identity_providers: {
        idp: { ...common, client_id: 'postern' },
        public: { ...common, client_id: 'postern-public', response: 'code' },
        secret: {
          ...common,
          client_id: 'postern-secret',
          client_secret: clientSecret,
          response: 'code',
        },
      },
    },
  });
  gateway.secrets.add(clientSecret);
  const path = (name: string, call: string) => `http://127.0.0.1:${gateway.port}/api/login/${name}/${call}`;

  async function begin(browser: HttpBrowser, name: string, returnTo = '/inbox'): Promise<string> {
    const started = await browser.send(`${path(name, 'start')}?return_to=${encodeURIComponent(returnTo)}`);
    if (started.status !== 200) throw new Error(`start was answered ${started.status} ${started.text}`);
    return started.json.url;
  }

  /** Signs in at the provider; what it returned, as the exchange takes it. */
  async function visit(browser: HttpBrowser, url: string, account: string) {
    const { hash, searchParams } = await browser.signInAt(url, account, provider.redirectUri);
    const fragment = new URLSearchParams(hash.slice(1));
    const assertion = fragment.get('id_token');
    const presented: Record<string, string> =
      assertion === null ? Object.fromEntries(searchParams) : { assertion };
    for (const secret of Object.values(presented))
      if (secret !== provider.issuer) gateway.secrets.add(secret);
    return presented;
  }

  const exchange = (browser: HttpBrowser, name: string, form: Record<string, string>) =>
    browser.send(path(name, 'exchange'), { form });

  async function signIn(browser: HttpBrowser, name: string, account: string, returnTo?: string) {
    const presented = await visit(browser, await begin(browser, name, returnTo), account);
    return exchange(browser, name, presented);
  }

  return { gateway, begin, visit, exchange, signIn };
}

type Stage = Awaited<ReturnType<typeof setUp>>;

/** Who the upstream sees behind an access token. */
async function whoIs({ gateway }: Stage, accessToken: string) {
  await gateway.api.send({ path: '/api/open/x', bearer: accessToken });
  const seen = gateway.upstream.seen.at(-1)!;
  return {
    username: seen.values('x-auth-username')[0],
    scopes: seen.values('x-auth-scopes')[0],
    subject: seen.values('x-auth-subject')[0],
  };
}

t.test('a person signs in with an ID token and with codes, and is the same each time', async (t) => {
  const stage = await setUp(t);
  const subjects = new Set<string | undefined>();
  for (const name of ['idp', 'public', 'secret'])
    await t.test(name, async (t) => {
      const browser = createHttpBrowser();
      const response = await stage.signIn(browser, name, 'alice');
      t.equal(response.status, 200);
      t.match(response.json, { token_type: 'bearer', scope: 'store:read', return_to: '/inbox' });
      t.strictSame(
        Object.keys(response.json).sort(),
        ['access_token', 'expires_in', 'return_to', 'scope', 'token_type'],
        'nothing of the provider’s',
      );
      t.equal(response.headers.get('referrer-policy'), 'no-referrer');
      const { username, scopes, subject } = await whoIs(stage, response.json.access_token);
      t.strictSame({ username, scopes }, { username: 'alice', scopes: 'store:read' });
      subjects.add(subject);
      await isSession(t, stage, browser);
    });
  t.equal(subjects.size, 1, 'an account is issuer and subject, whichever client it was');
  const bob = await stage.signIn(createHttpBrowser(), 'idp', 'bob');
  const { subject } = await whoIs(stage, bob.json.access_token);
  t.notOk(subjects.has(subject), 'somebody else is somebody else');
});

/** It is refreshed and ended as one of a password is. */
async function isSession(t: Test, { gateway }: Stage, browser: HttpBrowser): Promise<void> {
  const origin = `http://127.0.0.1:${gateway.port}`;
  gateway.secrets.add(browser.cookie('service_refresh_cookie')!);
  const refreshed = await browser.send(`${origin}/api/login/refresh-token`, { form: {} });
  t.equal(refreshed.status, 200);
  t.equal((await browser.send(`${origin}/api/logout`)).status, 200);
  t.equal(browser.cookie('service_refresh_cookie'), undefined);
  t.equal((await browser.send(`${origin}/api/login/refresh-token`, { form: {} })).status, 401);
}

t.test('tabs that sign in at the same time do not disturb each other', async (t) => {
  const { begin, visit, exchange } = await setUp(t);
  const browser = createHttpBrowser();
  const names = ['idp', 'public', 'idp', 'secret'];
  const urls: string[] = [];
  for (const [index, name] of names.entries()) urls.push(await begin(browser, name, `/tab-${index}`));
  const presented: Record<string, string>[] = [];
  for (const url of urls.toReversed()) presented.unshift(await visit(browser, url, 'alice'));
  const responses = await Promise.all(names.map((name, index) => exchange(browser, name, presented[index]!)));
  t.strictSame(
    responses.map(({ status, json }) => [status, json.return_to]),
    names.map((_, index) => [200, `/tab-${index}`]),
  );
});

t.test('a sign-in that began in one browser is of no use in another', async (t) => {
  const { begin, visit, exchange } = await setUp(t);
  for (const name of ['idp', 'public']) {
    const attacker = createHttpBrowser();
    const victim = createHttpBrowser();
    await begin(victim, name);
    const carried = await visit(attacker, await begin(attacker, name), 'bob');
    const refused = await exchange(victim, name, carried);
    t.equal(refused.status, 401, name);
    t.equal(refused.json.code, 'invalid_assertion');
    t.equal(victim.cookie('service_refresh_cookie'), undefined);
  }
});

t.test('a code is valid once, and only with the state it was issued for', async (t) => {
  const { begin, visit, exchange } = await setUp(t);
  const browser = createHttpBrowser();
  const first = await visit(browser, await begin(browser, 'public'), 'alice');
  const second = await visit(browser, await begin(browser, 'public'), 'alice');
  t.equal((await exchange(browser, 'public', second)).status, 200);
  t.equal((await exchange(browser, 'public', second)).status, 401);
  const third = await visit(browser, await begin(browser, 'public'), 'alice');
  const crossed = await exchange(browser, 'public', { ...first, state: third.state! });
  t.equal(crossed.status, 401, 'PKCE and nonce belong to the state');
  t.equal((await exchange(browser, 'public', third)).status, 401, 'which is used up');
});

t.test('a new key of the provider is picked up, and so is that it was restarted', async (t) => {
  const { gateway, signIn } = await setUp(t);
  t.equal((await signIn(createHttpBrowser(), 'idp', 'alice')).status, 200);
  await provider.rotateKey();
  t.equal((await signIn(createHttpBrowser(), 'idp', 'alice')).status, 200, 'right after the last fetch');
  await provider.rotateKey();
  // Before the pause is over nobody can make the gateway fetch them again.
  t.equal((await signIn(createHttpBrowser(), 'idp', 'alice')).status, 401);
  gateway.advance(30_000);
  t.equal((await signIn(createHttpBrowser(), 'idp', 'alice')).status, 200);
  await provider.stop('SIGKILL');
  await provider.start();
  t.equal((await signIn(createHttpBrowser(), 'idp', 'alice')).status, 200);
});

t.test(
  'while the provider is unavailable, earlier assertions are exchanged with the cached keys',
  async (t) => {
    const { begin, visit, exchange, signIn } = await setUp(t);
    const browser = createHttpBrowser();
    t.equal((await signIn(browser, 'public', 'alice')).status, 200);
    t.equal((await signIn(browser, 'idp', 'alice')).status, 200);
    const assertion = await visit(browser, await begin(browser, 'idp'), 'alice');
    const code = await visit(browser, await begin(browser, 'public'), 'alice');
    await provider.stop('SIGKILL');
    t.equal((await exchange(browser, 'idp', assertion)).status, 200);
    const refused = await exchange(browser, 'public', code);
    t.equal(refused.status, 503, 'a code is nothing without the provider');
    t.equal(refused.json.code, 'provider_unavailable');
    t.match(refused.headers.get('retry-after'), /^\d+$/);
    t.ok(await begin(browser, 'idp'), 'its addresses are known too');
    await provider.start();
    t.equal((await exchange(browser, 'public', code)).status, 401, 'it has forgotten the code');
    t.equal((await signIn(browser, 'public', 'alice')).status, 200);
  },
);
