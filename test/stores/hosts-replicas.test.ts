import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { leeway } from '../support/gateway/replicas.ts';
import {
  base,
  createHostBrowser,
  hiddenFields,
  hosts,
  leadsTo,
  notes,
  preview,
  wiki,
} from '../support/pages/hosts.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

t.setTimeout(600_000);

const throttle = { per_account_and_address: 1e6, per_account: 1e6, per_address: 1e6 };
const config = {
  web: {},
  hosts,
  login_throttle: throttle,
  upstreams: { echo: { url: 'builtin:echo' } },
  routes: [
    { prefix: '/', upstream: 'echo', browser: true },
    ...hosts.map((origin) => ({ host: new URL(origin).host, prefix: '/', upstream: 'echo', browser: true })),
  ],
  shutdown: { timeout: '50ms' },
};
const { username, password } = administrator;

/** A browser each of whose requests reaches the next of these gateways. */
function browserAmong(gateways: readonly GatewayProcess[]) {
  let count = 0;
  return createHostBrowser({
    get api() {
      count += 1;
      return gateways[count % gateways.length]!.api;
    },
  });
}

testOnEveryStore('every step to a host may be at another replica or worker', async (t: Test, stores) => {
  const one = await startGatewayProcess(t, { config: { ...config, ...stores } });
  const other = await startGatewayProcess(t, {
    config: { ...config, ...stores, workers: 2 },
    folder: one.folder,
  });
  await one.api.activate(username, password, bootstrapToken);
  const browser = browserAmong([one, other]);
  t.match(await browser.signIn(`${wiki}/a`), { status: 200, url: `${wiki}/a` });
  for (const origin of [notes, preview, wiki])
    for (const path of ['/b', '/c'])
      t.match(await browser.open(origin + path), { status: 200, url: origin + path });

  const start = await browser.send(`${notes}/postern/start`);
  const enterAt = (await browser.send(leadsTo(start)!)).headers.location!;
  const many = await Promise.all(Array.from({ length: 12 }, () => browser.send(enterAt)));
  t.equal(
    many.filter(({ status }) => status === 303).length,
    1,
    'a code is good once at all of them together',
  );

  t.equal((await browser.send(`${wiki}/postern/sign-out`, { form: {} })).status, 303);
  const since = performance.now();
  for (const origin of [wiki, notes, preview, base])
    for (const gateway of [one, other])
      await eventually(`it has ended at ${origin}`, async () => {
        const cookie = [...browser.cookiesAt(origin)].map((pair) => pair.join('=')).join('; ');
        const headers = { host: new URL(origin).host, accept: 'text/html' };
        return (await gateway.api.send({ path: '/', headers, cookie })).status === 302;
      });
  t.ok(performance.now() - since < 1_000 * leeway, 'everywhere within a second');
});

t.test('while Redis is unavailable', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  const gateway = await startGatewayProcess(t, {
    config: { ...config, stores: { records: 'sqlite:records.db', sessions: redis.url } },
  });
  await gateway.api.activate(username, password, bootstrapToken);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  const stranger = createHostBrowser(gateway);
  const page = await stranger.open(`${notes}/y`);
  const start = await browser.send(`${notes}/postern/start?return_to=/x`);
  const enterAt = (await browser.send(leadsTo(start)!)).headers.location!;

  redis.pause();
  const refused = await browser.send(enterAt);
  t.match(refused, {
    status: 503,
    setCookies: [],
    headers: { 'retry-after': /^\d+$/, 'content-type': /html/ },
  });
  t.match(await browser.send(`${wiki}/`), { status: 200 }, 'a cookie that was seen alive');
  const unseen = createHostBrowser(gateway);
  unseen.cookiesAt(wiki).set('__Host-service_refresh_cookie_at', 'x');
  t.match(await unseen.send(`${wiki}/`), { status: 302 }, 'one that is none needs no store');
  t.match(await stranger.send(`${notes}/postern/start`), { status: 200 });
  const form = { ...hiddenFields(page.text), ...administrator };
  t.match(await stranger.send(`${base}/postern/sign-in`, { form }), { status: 503, setCookies: [] });

  redis.resume();
  await eventually('the code is good', async () => (await browser.send(enterAt)).status === 303, 20_000);
  t.match(await browser.send(`${notes}/x`), { status: 200 });
});
