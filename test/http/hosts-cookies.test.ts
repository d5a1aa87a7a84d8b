import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import {
  base,
  createHostBrowser,
  hiddenFields,
  hostCookieName,
  leadsTo,
  notes,
  startHostsGateway,
  wiki,
} from '../support/pages/hosts.ts';

t.test('a host cookie lasts as long as its session', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  gateway.advance(86_400_000);
  const start = await browser.send(`${notes}/postern/start`);
  const entered = await browser.send((await browser.send(leadsTo(start)!)).headers.location!);
  const [, maxAge = ''] = /_at=[^;]+; Max-Age=(\d+);/.exec(entered.setCookies[0]!) ?? [];
  t.ok(Math.abs(Number(maxAge) - 89 * 86_400) < 60, maxAge);
});

t.test('on http, on loopback, the cookies have no __Host-', async (t) => {
  const signIn = 'http://signin.localhost:8080';
  const one = 'http://one.localhost:8080';
  const gateway = await startHostsGateway(t, {
    base_url: signIn,
    hosts: [one],
    routes: [{ host: 'one.localhost', prefix: '/', upstream: 'app', browser: true }],
  });
  const browser = createHostBrowser(gateway);
  const page = await browser.open(`${one}/x`);
  const form = { ...hiddenFields(page.text), ...administrator };
  t.match(await browser.open(`${signIn}/postern/sign-in`, { form }), { status: 200, url: `${one}/x` });
  t.strictSame([...browser.cookiesAt(one).keys()], ['service_refresh_cookie_at']);
});

t.test('no service installs a worker above the pages of its host', async (t) => {
  const browser = createHostBrowser(await startHostsGateway(t));
  await browser.signIn(`${wiki}/`);
  const worker = {
    'sec-fetch-site': 'same-origin',
    'sec-fetch-mode': 'same-origin',
    'sec-fetch-dest': 'serviceworker',
    'service-worker': 'script',
  };
  t.match(await browser.send(`${wiki}/sw.js`, { headers: worker }), {
    status: 403,
    json: { code: 'cross_site' },
  });
  t.match(await browser.send(`${wiki}/app/sw.js`, { headers: worker }), { status: 200 });
});

t.test('after a new sign-in at base_url, hosts are entered again without a question', async (t) => {
  const browser = createHostBrowser(await startHostsGateway(t));
  await browser.signIn(`${wiki}/`);
  const former = browser.cookiesAt(wiki).get(hostCookieName);
  const form = { ...administrator, return_to: '/app' };
  t.match(await browser.open(`${base}/postern/sign-in`, { form }), { status: 200, url: `${base}/app` });
  const shown = await browser.open(`${wiki}/x`);
  t.match(shown, { status: 200, url: `${wiki}/x` });
  t.equal(shown.via.length, 4, 'by way of the sign-in');
  t.not(browser.cookiesAt(wiki).get(hostCookieName), former);
});

t.test('a browser that keeps no web cookie is told so on the sign-in page', async (t) => {
  const browser = createHostBrowser(await startHostsGateway(t));
  const jar = browser.cookiesAt(base);
  jar.set = () => jar;
  const page = await browser.open(`${wiki}/x`);
  t.notMatch(page.text, 'did not keep the cookie');
  const shown = await browser.signIn(`${wiki}/x`);
  t.match(shown, { status: 200, text: /your browser did not keep the cookie/ });
  t.strictSame(Object.keys(hiddenFields(shown.text)), ['return_to', 'start'], 'and may try again');
});

t.test('another browser of its address is not, once one has signed in', async (t) => {
  const gateway = await startHostsGateway(t);
  await createHostBrowser(gateway).signIn(`${wiki}/x`);
  const page = await createHostBrowser(gateway).open(`${notes}/x`);
  t.match(page, { status: 200, text: /Sign in to go on to/ });
  t.notMatch(page.text, 'did not keep the cookie');
});

t.test('a host cookie outlives the secret that signed it', async (t) => {
  const gateway = await startHostsGateway(t, {
    signing_keys: { rotate_every: '1h', publish_ahead: '10m' },
  });
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  const first = browser.cookiesAt(wiki).get(hostCookieName);
  const secrets = () =>
    gateway
      .logLines()
      .filter(({ msg, purpose }) => /^signing key added/.test(String(msg)) && purpose === 'cookie');
  gateway.advance(50 * 60_000);
  await eventually('another secret', () => secrets().length > 0);
  gateway.advance(10 * 60_000);
  const again = createHostBrowser(gateway);
  // A cookie's value is of its session and its secret alone: the same session entered again shows which one signs.
  await eventually('it signs', async () => {
    const start = await browser.send(`${wiki}/postern/start`);
    const entered = await browser.send((await browser.send(leadsTo(start)!)).headers.location!);
    return entered.setCookies.some(
      (set) => set.startsWith(`${hostCookieName}=`) && !set.includes(`=${first};`),
    );
  });
  t.not(browser.cookiesAt(wiki).get(hostCookieName), first);
  const header = { cookie: `${hostCookieName}=${first}` };
  t.match(await again.send(`${wiki}/`, { headers: header }), { status: 200 }, 'and the earlier one counts');
  t.match(await again.send(`${notes}/`, { headers: header }), { status: 401 }, 'at its host alone');
});
