import t from 'tap';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { scrape } from '../support/gateway/scrape.ts';
import {
  base,
  createHostBrowser,
  hostCookieName,
  hostRoutes,
  hosts,
  notes,
  startHostsGateway,
  wiki,
} from '../support/pages/hosts.ts';
import { forgets, navigation } from '../support/pages/web.ts';

const notesHost = new URL(notes).host;
const without = {
  web: {},
  endpoints: { users: 'own' },
  hosts: hosts.filter((origin) => origin !== notes),
  routes: [
    ...hostRoutes.filter((route) => !('host' in route) || route.host !== notesHost),
    { prefix: '/', upstream: 'app', browser: true },
  ],
};
const withNotes = { web: {}, endpoints: { users: 'own' }, hosts, routes: hostRoutes };
const fetched = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };

t.test('the cookie of a host that leaves the file counts no more for new requests', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  t.match(await browser.signIn(`${wiki}/`), { status: 200 });
  t.match(await browser.open(`${notes}/`), { status: 200, url: `${notes}/` });
  const value = browser.cookiesAt(notes).get(hostCookieName)!;

  await gateway.reload(without);
  for (const headers of [navigation, fetched]) {
    const response = await browser.send(`${notes}/x`, { headers });
    t.match(response, headers === navigation ? { status: 302 } : { status: 401 });
    if (headers === navigation)
      t.match(
        response.headers.location,
        /^\/postern\/sign-in\?return_to=/,
        'as at any host without an entry',
      );
  }
  t.match(await browser.send(`${notes}/postern/start`), { status: 404 });
  t.match(await browser.send(`${notes}/postern/enter?code=x`), { status: 404 });
  t.match(await browser.send(`${wiki}/x`), { status: 200 }, 'the others count on');
  t.match(await browser.send(`${base}/app`), { status: 200 });

  const seen = gateway.upstream.seen.length;
  await gateway.api.send({
    path: '/app',
    headers: { host: notesHost },
    cookie: `${hostCookieName}=${value}`,
  });
  t.equal(gateway.upstream.seen.length, seen, 'nothing of it reaches a service');

  await gateway.reload(withNotes);
  browser.cookiesAt(notes).set(hostCookieName, value);
  t.match(await browser.send(`${notes}/x`), { status: 200 }, 'its session lives');
});

t.test('without hosts, every host has the same routes again', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  const { hosts: _, ...none } = { ...without, routes: [{ prefix: '/app', upstream: 'app', browser: true }] };
  await gateway.reload(none);
  t.match(await browser.send(`${wiki}/x`), { status: 404 });
  t.match(
    await browser.send(`${wiki}/app`, { headers: fetched }),
    { status: 401 },
    'its cookie is nothing there',
  );
  await browser.send(`${base}/app`);
  t.strictSame(gateway.upstream.seen.at(-1)!.values('cookie'), []);
});

t.test('a cookie of a host is cleared where it is one again, but its session has ended', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${notes}/`);
  const value = browser.cookiesAt(notes).get(hostCookieName)!;
  await gateway.reload(without);
  await browser.send(`${base}/postern/sign-out`, { form: {}, headers: { ...fetched, origin: base } });
  await gateway.reload(withNotes);
  browser.cookiesAt(notes).set(hostCookieName, value);
  const response = await browser.send(`${notes}/x`);
  t.match(response, { status: 302 });
  t.ok(forgets(response, hostCookieName));
});

t.test('the series of its routes go with a host', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${notes}/`);
  const routes = async () => {
    const { families } = await scrape(gateway.managementPort);
    return new Set(
      [...families.values()].flatMap(({ samples }) => samples.map(({ labels }) => labels.route)),
    );
  };
  t.ok((await routes()).has(`${notesHost}/`));
  await gateway.reload(without);
  const left = await routes();
  t.notOk(left.has(`${notesHost}/`));
});

t.test('a listener for decisions outlives the pages that it led people to', async (t) => {
  const listener = { mode: 'nginx', host: '127.0.0.1', port: 0, browser: true };
  const gateway = await startHostsGateway(t, { forward_auth: [listener] });
  const ask = async (...described: readonly string[]) => {
    const lines = ['GET / HTTP/1.1', 'Host: x', 'X-Original-Method: GET', 'X-Original-URI: /x', ...described];
    const head = [...lines, 'Accept: text/html', 'Connection: close', '', ''].join('\r\n');
    const { responses } = await exchangeRaw(gateway.decisionPorts[0]!, head);
    return [responses[0]?.status, ...responses[0]!.values('x-auth-location')];
  };
  const described = `X-Original-Host: ${notesHost}`;
  t.strictSame(await ask(described), [401, '/postern/start?return_to=%2Fx']);
  // Only a restart closes a listener.
  await gateway.reload({ routes: [{ prefix: '/', upstream: 'app' }] });
  t.strictSame(await ask(described), [401]);
  t.strictSame(await ask(), [403], 'a host is described as ever');
});
