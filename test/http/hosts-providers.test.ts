import t, { type Test } from 'tap';
import {
  es256,
  claims as exampleClaims,
  forge,
  header,
  jwkOf,
} from '../support/corpora/forged-assertions.ts';
import {
  base,
  createHostBrowser,
  type HostBrowser,
  hiddenFields,
  hostCookieName,
  hosts,
  leadsTo,
  notes,
  startHostsGateway,
  wiki,
} from '../support/pages/hosts.ts';
import { forgets, navigation } from '../support/pages/web.ts';
import { json, publish, startStubProvider } from '../support/servers/stub-provider.ts';

const fromElsewhere = { ...navigation, 'sec-fetch-site': 'cross-site' };

/** A gateway with hosts and a provider at which everyone is signed in. */
async function start(
  t: Test,
  { web = {}, provider = {} }: { readonly web?: object; readonly provider?: object } = {},
) {
  const stub = await startStubProvider(t);
  publish(stub, [jwkOf(es256)], { end_session_endpoint: `${stub.origin}/end` });
  const config = {
    web,
    identity_providers: {
      staff: { issuer: stub.origin, client_id: 'postern', title: 'Staff', accounts: 'create', ...provider },
    },
  };
  const gateway = await startHostsGateway(t, config);

  /** The callback to which the provider leads a browser back that comes by that address. */
  const callbackOf = (url: string) => {
    const { state = '', nonce = '' } = Object.fromEntries(new URL(url).searchParams);
    const iat = Math.floor(Date.now() / 1000);
    const claims = { ...exampleClaims, iss: stub.origin, aud: 'postern', iat, exp: iat + 300, nonce };
    const tokens = { access_token: 'a', token_type: 'Bearer', id_token: forge(header, claims) };
    stub.responses.set('/token', json(tokens));
    return `${base}/postern/callback/staff?code=c1&state=${state}`;
  };
  /** Follows the link of the sign-in page at an address to the provider; the callback. */
  const leave = async (browser: HostBrowser, signInAt: string) => {
    const url = new URL(signInAt);
    url.pathname = '/postern/sign-in/staff';
    const left = await browser.send(url.href);
    t.equal(left.status, 302);
    return callbackOf(left.headers.location!);
  };
  return { ...gateway, stub, config, callbackOf, leave };
}

t.test('a provider signs people in to a host', async (t) => {
  const gateway = await start(t);
  const browser = createHostBrowser(gateway);
  const path = `/deep?x=${'y'.repeat(2_040)}`;
  t.equal(path.length, 2_048);
  const page = await browser.open(wiki + path);
  t.match(page, { status: 200, text: /go on to <bdi>wiki/ });
  const [, link = ''] = /<a href="(\/postern\/sign-in\/staff\?[^"]+)"/.exec(page.text) ?? [];
  t.equal(link.replaceAll('&amp;', '&'), page.url.slice(base.length).replace('sign-in?', 'sign-in/staff?'));
  const callback = await gateway.leave(browser, page.url);
  const back = await browser.send(callback, { headers: fromElsewhere });
  t.match(back, { status: 200, headers: { 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' } });
  t.equal(new URL(leadsTo(back)!, base).href, page.url);
  t.notMatch(back.text, 'enter?code');
  const shown = await browser.open(new URL(leadsTo(back)!, base).href);
  t.match(shown, { status: 200, url: wiki + path });
  t.equal((await browser.open(`${notes}/`)).status, 200, 'and on without a question');

  const again = await browser.send(callback, { headers: fromElsewhere });
  t.match(again, { status: 303, headers: { location: '/postern/' } }, 'back again');
});

t.test('a refused attempt is followed by another that leads to the same host', async (t) => {
  const gateway = await start(t);
  const browser = createHostBrowser(gateway);
  const page = await browser.open(`${wiki}/a?b=c`);
  const callback = await gateway.leave(browser, page.url);
  const denied = new URL(callback);
  denied.searchParams.delete('code');
  denied.searchParams.set('error', 'access_denied');
  const refused = await browser.send(denied.href, { headers: fromElsewhere });
  t.match(refused, { status: 401, setCookies: [], text: /go on to <bdi>wiki/ });
  t.strictSame(hiddenFields(refused.text), hiddenFields(page.text));
  t.match(refused.text, `data-address="${page.url.slice(base.length).replaceAll('&', '&amp;')}"`);
  const other = await createHostBrowser(gateway).send(denied.href, { headers: fromElsewhere });
  t.match(other, { status: 401 });
  t.strictSame(hiddenFields(other.text), {}, 'another browser is told of no host');
  const signedIn = await browser.open(await gateway.leave(browser, page.url), { headers: fromElsewhere });
  t.match(signedIn, { status: 200, url: `${wiki}/a?b=c` });
});

t.test('the only provider is led to at once, towards the same host', async (t) => {
  const gateway = await start(t, { web: { password: false } });
  const browser = createHostBrowser(gateway);
  const signInAt = leadsTo(await browser.send(`${wiki}/postern/start?return_to=/a&again=1`))!;
  const led = await browser.send(signInAt);
  t.match(led, {
    status: 303,
    headers: { location: signInAt.slice(base.length).replace('sign-in?', 'sign-in/staff?') },
  });
  t.match(led.headers.location, /&again=1$/);
  const left = await browser.send(base + led.headers.location);
  const shown = await browser.open(gateway.callbackOf(left.headers.location!), { headers: fromElsewhere });
  t.match(shown, { status: 200, url: `${wiki}/a` });
});

t.test('only a person who opens it is led to a provider, and on to a host', async (t) => {
  const gateway = await start(t);
  const browser = createHostBrowser(gateway);
  const at = leadsTo(await browser.send(`${wiki}/postern/start`))!.replace('sign-in?', 'sign-in/staff?');
  const own = { ...navigation, 'sec-fetch-site': 'same-origin' };
  const refused: Record<string, Record<string, string>> = {
    'a script': { ...own, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
    'a frame': { ...own, 'sec-fetch-dest': 'iframe' },
    'a worker that hands a navigation on': { ...own, 'sec-fetch-dest': 'empty' },
    'no browser': {},
  };
  for (const [who, headers] of Object.entries(refused))
    t.match(await browser.send(at, { headers }), { status: 403, setCookies: [] }, who);
  const early = { ...navigation, 'sec-purpose': 'prefetch' };
  t.match(await browser.send(at, { headers: early }), { status: 403, text: /prefetch/ });
  t.match(await browser.send(at, { method: 'HEAD' }), { status: 405 });
  t.match(await browser.send(at), { status: 302 });
});

t.test('a host that has left the configuration is led to no more', async (t) => {
  const gateway = await start(t);
  const browser = createHostBrowser(gateway);
  const page = await browser.open(`${wiki}/a`);
  const callback = await gateway.leave(browser, page.url);
  const routes = [{ prefix: '/app', upstream: 'app', browser: true }];
  await gateway.reload({ ...gateway.config, hosts: hosts.slice(1), routes });
  const back = await browser.send(callback, { headers: fromElsewhere });
  t.match(back, { status: 303, headers: { location: '/postern/' } });
});

t.test('a sign-out at a host goes on at the provider, and back to base_url', async (t) => {
  const gateway = await start(t, { provider: { end_session: true } });
  const browser = createHostBrowser(gateway);
  const page = await browser.open(`${wiki}/a`);
  await browser.open(await gateway.leave(browser, page.url), { headers: fromElsewhere });
  const out = await browser.send(`${wiki}/postern/sign-out`, { form: {} });
  t.match(out, {
    status: 200,
    headers: { 'referrer-policy': 'no-referrer', 'cross-origin-opener-policy': 'same-origin' },
  });
  t.ok(forgets(out, hostCookieName));
  const url = new URL(leadsTo(out)!);
  t.equal(url.origin + url.pathname, `${gateway.stub.origin}/end`);
  t.equal(url.searchParams.get('post_logout_redirect_uri'), `${base}/postern/signed-out`);
  t.ok(url.searchParams.get('id_token_hint'));
  t.match(await browser.send(`${wiki}/a`), { status: 302 });
});
