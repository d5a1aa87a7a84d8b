import { readFileSync } from 'node:fs';
import t from 'tap';
import {
  es256,
  claims as exampleClaims,
  forge,
  header,
  jwkOf,
} from '../support/corpora/forged-assertions.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { cookieNamed, navigation, startWebGateway, webCookieName } from '../support/pages/web.ts';
import { json, publish, startStubProvider } from '../support/servers/stub-provider.ts';

const refreshCookieName = 'service_refresh_cookie';
const toConsole = { ...administrator, return_to: '/postern/console/users?kind__eq=person' };

t.test('without web.console there is none', async (t) => {
  const { open, signIn, submit } = await startWebGateway(t);
  const cookie = await signIn();
  t.equal((await open('/postern/console/', cookie)).status, 404);
  t.notMatch((await open('/postern/', cookie)).text, 'Open the console');
  const signedIn = await submit('/postern/sign-in', toConsole);
  t.notOk(cookieNamed(signedIn, refreshCookieName), 'nor a refresh cookie for pages');
});

t.test('each part of the console has an address and a row in docs/console.md', async (t) => {
  const source = readFileSync('src/web/assets/console/main.js', 'utf8');
  const [, list] = /^const parts = \[\n([\s\S]*?)^\];$/m.exec(source)!;
  const parts = [...list!.matchAll(/name: '([a-z-]+)',\s+label: '([^']+)'/g)];
  t.not(parts.length, 0);
  const { open, signIn } = await startWebGateway(t, { web: { console: {} } });
  const cookie = await signIn();
  const page = readFileSync('docs/console.md', 'utf8');
  for (const [, name = '', label = ''] of parts) {
    t.equal((await open(`/postern/console/${name}`, cookie)).status, 200, name);
    t.match(page, `\n| ${label} | `, label);
  }
});

t.test('the console is one page at all its addresses', async (t) => {
  const { open, signIn } = await startWebGateway(t, { web: { console: {} } });
  const cookie = await signIn();
  t.match(await open('/postern/console', cookie), {
    status: 308,
    headers: { location: '/postern/console/' },
  });
  for (const path of ['', 'api-keys', 'sessions', 'users', 'scope-sets?x=1', 'audit', 'account', 'users/1']) {
    const page = await open(`/postern/console/${path}`, cookie);
    t.equal(page.status, 200, path);
    t.match(page.headers['content-security-policy'], /script-src 'self'/);
    t.match(page.headers['cache-control'], 'no-store');
    t.match(page.text, 'data-has-password="yes" data-min-password-length="12"');
  }
  for (const path of ['tokens', 'users/1/2', 'api-keys/1/x'])
    t.equal((await open(`/postern/console/${path}`, cookie)).status, 404, path);
  const led = await open('/postern/console/users?kind__eq=person');
  t.match(led, {
    status: 302,
    headers: { location: '/postern/sign-in?return_to=%2Fpostern%2Fconsole%2Fusers%3Fkind__eq%3Dperson' },
  });
  t.match((await open('/postern/', cookie)).text, 'href="/postern/console/"');
});

t.test('files that the page loads are there, and import nothing by a name', async (t) => {
  const { open, signIn, api } = await startWebGateway(t, { web: { console: {} } });
  const { text } = await open('/postern/console/', await signIn());
  const seen = new Set<string>();
  const load = async (address: string): Promise<void> => {
    if (seen.has(address)) return;
    seen.add(address);
    const file = await api.send({ path: address });
    t.match(file, { status: 200, headers: { 'content-type': 'text/javascript; charset=utf-8' } }, address);
    const named = [...file.text.matchAll(/^import\b[^'"`;]*["']([^"']+)["']/gm)].map(([, name]) => name!);
    for (const name of named) {
      t.match(name, /^\/postern\/assets\/[a-z-]+\.[0-9a-f]{16}\.js$/);
      await load(name);
    }
  };
  const main = /<script type="module" src="([^"]+)"/.exec(text)![1]!;
  await load(main);
  t.ok(seen.size > 10);
  const preloaded = [...text.matchAll(/<link rel="modulepreload" href="([^"]+)"/g)].map(([, name]) => name!);
  t.strictSame([main, ...preloaded].sort(), [...seen].sort(), 'each is named by the page');
  for (const [, style] of text.matchAll(/<link rel="stylesheet" href="([^"]+)"/g))
    t.match((await api.send({ path: style! })).status, 200);
});

t.test(
  'only towards the console a sign-in gives a refresh cookie, and it is always asked for anew',
  async (t) => {
    const { open, submit, signIn, api } = await startWebGateway(t, { web: { console: {} } });
    const elsewhere = await submit('/postern/sign-in', { ...administrator, return_to: '/app/console' });
    t.notOk(cookieNamed(elsewhere, refreshCookieName));
    const cookie = await signIn();
    const asked = await open('/postern/sign-in?return_to=%2Fpostern%2Fconsole%2F', cookie);
    t.match(asked, { status: 200, text: /name="password"/ }, 'though somebody is signed in');
    const signedIn = await submit('/postern/sign-in', toConsole, cookie);
    t.match(signedIn, { status: 303, headers: { location: toConsole.return_to } });
    t.equal((await open('/postern/console/', cookie)).status, 302, 'the session before has ended');
    const refreshed = await api.refresh(cookieNamed(signedIn, refreshCookieName)!);
    t.equal(refreshed.status, 200);
    t.equal((await open('/postern/console/', cookieNamed(signedIn, webCookieName)!)).status, 200);
    const wrong = await submit('/postern/sign-in', { ...toConsole, password: 'not this one' });
    t.match(wrong, { status: 401, setCookies: [] });
  },
);

t.test('only sign-ins of the required provider lead there', async (t) => {
  const stub = await startStubProvider(t);
  publish(stub, [jwkOf(es256)]);
  const { open, submit, signIn, api } = await startWebGateway(t, {
    web: { console: { require: 'staff' } },
    scope_sets: {},
    identity_providers: {
      staff: { issuer: stub.origin, client_id: 'postern', accounts: 'create' },
      guests: { issuer: stub.origin, client_id: 'guests', accounts: 'create' },
    },
  });
  const cookie = await signIn();
  t.equal((await open('/postern/console/', cookie)).status, 302, 'signed in with a password');
  const asked = await open('/postern/sign-in?return_to=%2Fpostern%2Fconsole%2F', cookie);
  t.equal(asked.status, 200, 'nobody is led on unasked');
  t.match(asked.text, '. The console accepts only sign-ins with <bdi>staff</bdi>.');
  t.match(asked.text, 'href="/postern/sign-in/staff?return_to=');
  t.notMatch(asked.text, '/postern/sign-in/guests');
  t.notMatch(asked.text, 'type="password"');
  const byPassword = await submit('/postern/sign-in', toConsole, cookie);
  t.match(byPassword, { status: 303, headers: { location: '/postern/' } });
  t.notOk(cookieNamed(byPassword, refreshCookieName));

  const by = async (name: string, audience: string) => {
    const left = await open(`/postern/sign-in/${name}?return_to=%2Fpostern%2Fconsole%2F`);
    const { state = '', nonce } = Object.fromEntries(new URL(left.headers.location!).searchParams);
    const iat = Math.floor(Date.now() / 1000);
    const claims = { ...exampleClaims, iss: stub.origin, aud: audience, iat, exp: iat + 300, nonce };
    const tokens = { access_token: 'a', token_type: 'Bearer', id_token: forge(header, claims) };
    stub.responses.set('/token', json(tokens));
    return api.send({
      path: `/postern/callback/${name}?code=c1&state=${state}`,
      headers: { ...navigation, 'sec-fetch-site': 'cross-site' },
      cookie: left.setCookies[0]!.split(';', 1)[0]!,
    });
  };
  const staff = await by('staff', 'postern');
  t.match(staff, { status: 303, headers: { location: '/postern/console/' } });
  t.ok(cookieNamed(staff, refreshCookieName));
  const shown = await open('/postern/console/', cookieNamed(staff, webCookieName)!);
  t.match(shown, { status: 200, text: 'data-has-password="no"' }, 'there is no password to change');
  const guest = await by('guests', 'guests');
  t.match(guest, { status: 303, headers: { location: '/postern/' } });
  t.notOk(cookieNamed(guest, refreshCookieName));
  t.equal((await open('/postern/console/', cookieNamed(guest, webCookieName)!)).status, 302);
});

t.test('a start page in the console leads nobody there who may not be', async (t) => {
  const { submit, open } = await startWebGateway(t, {
    web: { home: '/postern/console/', console: { require: 'staff' } },
    identity_providers: { staff: { issuer: 'https://login.example.com', client_id: 'postern' } },
  });
  const signedIn = await submit('/postern/sign-in', { ...administrator });
  t.match(signedIn, { status: 303, headers: { location: /^\/postern\/$/ } });
  t.notOk(cookieNamed(signedIn, refreshCookieName));
  const cookie = cookieNamed(signedIn, webCookieName)!;
  t.equal((await open('/postern/', cookie)).status, 200);
  t.equal((await open('/postern/console/', cookie)).status, 302);
});

t.test('a host of its own has own paths alone, and no other has the console', async (t) => {
  const web = { home: '/app', console: { base_url: 'https://console.acme.example.com' } };
  const { api, signIn, upstream } = await startWebGateway(t, { web });
  const cookie = await signIn();
  const at = (host: string, path: string, more: Record<string, string> = {}) =>
    api.send({ path, cookie, headers: { ...navigation, host, ...more } });
  for (const host of [
    'console.acme.example.com',
    'CONSOLE.acme.example.com:443',
    'console.acme.example.com.',
  ]) {
    t.equal((await at(host, '/postern/console/')).status, 200, host);
    t.equal((await at(host, '/postern/sign-in?return_to=%2Fpostern%2Fconsole%2F')).status, 200);
    for (const path of ['/app', '/site', '/api/store', '/nowhere'])
      t.equal((await at(host, path)).status, 404, path);
  }
  t.equal(upstream.seen.length, 0);
  const signInAt = async (host: string, query = '') => {
    const path = `/postern/sign-in?return_to=%2Fpostern%2Fconsole%2F${query}`;
    return (await api.send({ path, headers: { ...navigation, host } })).text;
  };
  const separate =
    'The console has a sign-in of its own, so that no page of a service can use it: being signed in at <bdi>acme.example.com</bdi> does not count here.';
  t.match(await signInAt('console.acme.example.com'), separate);
  t.notMatch(await signInAt('console.acme.example.com', '&ended'), separate, 'who was signed in here knows');
  t.notMatch(await signInAt('acme.example.com'), separate);
  for (const host of ['acme.example.com', 'other.example']) {
    t.equal((await at(host, '/postern/console/')).status, 404, host);
    t.equal((await at(host, '/app')).status, 200, host);
  }
  const { text: start } = await at('acme.example.com', '/postern/');
  t.match(start, 'href="https://console.acme.example.com/postern/console/"');
  t.match(start, 'href="/app"');
  t.notMatch((await at('console.acme.example.com', '/postern/')).text, 'href="/app"');
  const lost = (host: string) => at(host, '/postern/nothing').then(({ text }) => text);
  t.match(await lost('acme.example.com'), 'href="/app"');
  t.match(
    await lost('console.acme.example.com'),
    'href="/postern/"',
    'a page of an error leads to a page of its host',
  );

  const submit = (host: string, origin: string) =>
    api.send({
      method: 'POST',
      path: '/postern/sign-in',
      form: toConsole,
      headers: { host, origin, 'sec-fetch-site': 'same-site' },
    });
  const own = await submit('console.acme.example.com', 'https://console.acme.example.com');
  t.match(own, { status: 303, headers: { location: toConsole.return_to } });
  t.ok(cookieNamed(own, refreshCookieName));
  const other = await submit('acme.example.com', 'https://acme.example.com');
  t.notOk(cookieNamed(other, refreshCookieName), 'where there is no console nothing leads there');
  t.match(await submit('console.acme.example.com', 'https://evil.example'), { status: 403 });
  const nowhere = await api.send({
    method: 'POST',
    path: '/postern/sign-in',
    form: { ...administrator },
    headers: { host: 'console.acme.example.com', 'sec-fetch-site': 'same-origin' },
  });
  t.match(nowhere.headers, { location: '/postern/' }, 'there is no service to lead to');
});

t.test('a sign-in by a provider comes back to the host where it began', async (t) => {
  const stub = await startStubProvider(t);
  publish(stub, [jwkOf(es256)]);
  const { api } = await startWebGateway(t, {
    web: { console: { base_url: 'https://console.acme.example.com' } },
    identity_providers: { staff: { issuer: stub.origin, client_id: 'postern' } },
  });
  for (const host of ['acme.example.com', 'console.acme.example.com']) {
    const { headers } = await api.send({ path: '/postern/sign-in/staff', headers: { ...navigation, host } });
    const redirectUri = new URL(headers.location!).searchParams.get('redirect_uri');
    t.equal(redirectUri, `https://${host}/postern/callback/staff`);
  }
});

t.test('who is signed in is told so where the console asks again', async (t) => {
  const { open, signIn } = await startWebGateway(t, { web: { console: {} } });
  const towards = '/postern/sign-in?return_to=%2Fpostern%2Fconsole%2F';
  const { text } = await open(towards, await signIn());
  t.match(
    text,
    'You are signed in as <strong><bdi class="account-name">ada</bdi></strong>. The console asks for your password again, so that no page of a service can use it.',
  );
  t.match(text, /<input id="username"[^>]* value="ada"/);
  const bare = await open(towards);
  t.notMatch(bare.text, 'You are signed in');
  t.match(bare.text, /<input id="username"[^>]* value required/);
  const ended = await open(towards, `${webCookieName}=not-one-of-ours`);
  t.match(ended, { status: 200 });
  t.notMatch(ended.text, 'You are signed in');
});

t.test('so is who may choose a provider, too', async (t) => {
  const stub = await startStubProvider(t);
  const { open, signIn } = await startWebGateway(t, {
    web: { console: {} },
    identity_providers: { staff: { issuer: stub.origin, client_id: 'postern' } },
  });
  const { text } = await open('/postern/sign-in?return_to=%2Fpostern%2Fconsole%2F', await signIn());
  t.match(
    text,
    'You are signed in as <strong><bdi class="account-name">ada</bdi></strong>. The console asks you to sign in again, so that no page of a service can use it.',
  );
});

t.test('files are compressed for browsers that take it', async (t) => {
  const { open, signIn, port } = await startWebGateway(t, { web: { console: {} } });
  const { text } = await open('/postern/console/', await signIn());
  const path = /<script type="module" src="([^"]+)"/.exec(text)![1]!;
  const plain = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { 'accept-encoding': 'identity' },
  });
  const script = await plain.text();
  t.match(plain.headers.get('vary'), 'Accept-Encoding');
  for (const [accepted, encoding] of [
    ['gzip, deflate, br', 'gzip'],
    ['br;q=1.0, GZIP;q=0.5', 'gzip'],
    ['gzip;q=0', null],
    ['gzip;q=0.000, br', null],
    ['x-gzip', null],
    ['br', null],
  ] as const)
    for (const round of ['first', 'second']) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { 'accept-encoding': accepted },
      });
      t.equal(response.headers.get('content-encoding'), encoding, `${accepted}, the ${round} time`);
      t.equal(await response.text(), script);
      const sent = Number(response.headers.get('content-length'));
      t.equal(sent < Buffer.byteLength(script), encoding !== null, `${sent} bytes`);
    }
});
