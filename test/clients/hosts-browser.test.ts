import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { leeway } from '../support/gateway/replicas.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { heading, openStreams, signIn } from '../support/pages/browser-site.ts';
import { type HostsSite, startHostsSite } from '../support/pages/hosts-site.ts';
import { startReturningProvider } from '../support/servers/returning-provider.ts';

t.setTimeout(600_000);

interface Stage {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly site: HostsSite;
}

async function start(t: Test, scheme: 'http' | 'https'): Promise<Stage | null> {
  const context = await openBrowser(t, { ignoreHTTPSErrors: true });
  if (context === null) return null;
  const site = await startHostsSite(t, { scheme });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  return { context, page, site };
}

/** Opens a page of a host, and signs in on the way. */
async function enter({ page }: Stage, url: string): Promise<void> {
  await page.goto(url);
  await page.waitForURL(/\/postern\/sign-in\?/);
  await signIn(page);
  await page.waitForURL(url);
}

/** Names of the cookies at an origin, without the random ends of starts. */
async function cookiesAt(context: BrowserContext, origin: string): Promise<readonly string[]> {
  const held = await context.cookies(origin);
  return held.map(({ name }) => name.replace(/(?<=_start_).{6}$/, '…'));
}

/** A page of another site, whose body is `html`; its address. */
async function serveElsewhere(t: Test, html: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<!doctype html>${html}`);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://elsewhere.localhost:${(server.address() as AddressInfo).port}/`;
}

for (const scheme of ['http', 'https'] as const)
  t.test(`${scheme}: one sign-in, five names`, async (t) => {
    const stage = await start(t, scheme);
    if (stage === null) return;
    const { context, page, site } = stage;
    const { at } = site;
    const prefix = scheme === 'https' ? '__Host-' : '';
    const addresses: string[] = [];
    context.on('request', (request) => addresses.push(request.url()));
    const elsewhere = await serveElsewhere(t, `<a href="${at.wiki}/orders?page=2">wiki</a>`);

    await page.goto(elsewhere);
    await page.click('a');
    await page.waitForURL(`${at.signIn}/postern/sign-in?*`);
    t.match(await page.textContent('main'), 'wiki.acme.localhost', 'it says where it leads');
    await signIn(page);
    await page.waitForURL(`${at.wiki}/orders?page=2`);
    t.equal(await page.textContent('#who'), 'ada');
    t.same(await cookiesAt(context, at.wiki), [`${prefix}service_refresh_cookie_at`]);
    t.same(await cookiesAt(context, at.signIn), [`${prefix}service_refresh_cookie_web`]);

    for (const origin of [at.shop, at.preview, at.otherPreview]) {
      await page.goto(`${origin}/orders`);
      await page.waitForURL(`${origin}/orders`);
      t.equal(await heading(page), 'GET /orders', `${origin} is entered without a question`);
    }
    const codes = addresses.filter((address) => address.includes('code='));
    t.equal(codes.length, 4);
    t.notOk(
      codes.some((address) => address.startsWith(at.signIn)),
      'no address of base_url holds a code',
    );
    await page.goto(`${at.console}/postern/console/`);
    t.equal(await heading(page), 'Sign in', 'the console asks for itself');
    await page.goto(`${at.signIn}/app`);
    t.equal(await page.textContent('#who'), 'ada', 'and base_url has routes of its own');

    await page.goto(`${at.shop}/orders`);
    const streams = await openStreams(page);
    const other = await context.newPage();
    await other.goto(`${at.wiki}/postern/sign-out`);
    await streams.mark();
    await other.click('main button');
    await other.waitForURL(`${at.wiki}/postern/signed-out`);
    const { code, tookMs } = await streams.ended();
    t.equal(code, 1008);
    t.ok(tookMs < 1_000 * leeway, `a stream at another host ends within a second: ${Math.round(tookMs)} ms`);
    t.same(await cookiesAt(context, at.wiki), []);
    await page.goto(`${at.shop}/orders`);
    t.equal(await heading(page), 'Sign in');
    t.same(
      await cookiesAt(context, at.shop),
      [`${prefix}service_refresh_cookie_start_…`],
      'the dead one is cleared',
    );
  });

t.test('two tabs, a page that is left open, and the way back', async (t) => {
  const stage = await start(t, 'http');
  if (stage === null) return;
  const { context, page, site } = stage;
  const { at } = site;
  const second = await context.newPage();
  await page.goto(`${at.wiki}/one`);
  await second.goto(`${at.shop}/two`);
  t.equal(await heading(second), 'Sign in');
  await signIn(page);
  await page.waitForURL(`${at.wiki}/one`);
  await signIn(second);
  await second.waitForURL(`${at.shop}/two`);
  t.equal(await second.textContent('#who'), 'ada', 'the second tab completes what it began');
  await page.goto(`${at.wiki}/three`);
  await page.waitForURL(`${at.wiki}/three`);
  t.equal(await heading(page), 'GET /three', 'and the first is led through the new session');

  await context.clearCookies();
  await page.goto(`${at.wiki}/left`);
  t.equal(await heading(page), 'Sign in');
  // After an hour browsers have forgotten the cookie of the start.
  await context.clearCookies({ name: /_start_/ });
  await signIn(page);
  await page.waitForURL(`${at.wiki}/left`);
  t.equal(await heading(page), 'GET /left', 'a page left open for an hour still leads there');

  for (const times of [1, 2]) {
    await page.goBack({ waitUntil: 'networkidle' });
    t.match(await heading(page), /^GET \/(left|three)$/, `${times} back, and on to a page of the service`);
  }
});

t.test('a form of a service under form-action ‘self’ leads to the sign-in and on', async (t) => {
  const stage = await start(t, 'http');
  if (stage === null) return;
  const { context, page, site } = stage;
  const { at } = site;
  await enter(stage, `${at.wiki}/strict`);
  await context.clearCookies();
  await page.click('text=Find');
  await page.waitForURL(`${at.signIn}/postern/sign-in?*`);
  await signIn(page);
  await page.waitForURL(`${at.wiki}/orders?q=tea`);
  t.equal(await heading(page), 'GET /orders?q=tea');

  await page.goto(`${at.wiki}/strict`);
  await context.clearCookies({ name: /_at$/ });
  await page.click('text=Find');
  await page.waitForURL(`${at.wiki}/orders?q=tea`);
  t.equal(await heading(page), 'GET /orders?q=tea', 'without a question where one is signed in');
});

t.test('pages that don’t open it for their visitor get nothing of it', async (t) => {
  const stage = await start(t, 'http');
  if (stage === null) return;
  const { context, page, site } = stage;
  const { at } = site;
  await enter(stage, `${at.wiki}/orders`);
  const wanted = new URLSearchParams({ return_to: `${at.shop}/x`, start: 'A'.repeat(43) });
  const form = `${wanted}&username=${administrator.username}&password=${administrator.password}`;
  const signInAddress = `${at.signIn}/postern/sign-in?${wanted}`;
  const answers: (readonly [string, number])[] = [];
  context.on('response', (response) => {
    if (response.url().startsWith(signInAddress))
      answers.push([response.request().resourceType(), response.status()]);
  });
  // A script of a service at base_url is the one that could read most.
  await page.goto(`${at.signIn}/app`);
  const seen = await page.evaluate(`(async () => {
    const address = ${JSON.stringify(signInAddress)};
    const read = async (options) => {
      const answer = await fetch(address, { credentials: 'include', ...options });
      return [answer.type, answer.status, answer.url, await answer.text()];
    };
    const frame = document.createElement('iframe');
    frame.src = address;
    document.body.append(frame);
    await new Promise((resolve) => frame.addEventListener('load', resolve));
    return [await read({}), await read({ redirect: 'manual' }), await read({ method: 'POST', body: new URLSearchParams(${JSON.stringify(form)}) })];
  })()`);
  t.match(seen, [
    ['basic', 403],
    ['basic', 403],
    ['basic', 403],
  ]);
  t.notMatch(JSON.stringify(seen), 'code=');
  const closed = await page.evaluate(`new Promise((resolve) => {
    const socket = new WebSocket(${JSON.stringify(`${at.wiki.replace('http:', 'ws:')}/live`)});
    socket.onopen = () => resolve('open');
    socket.onclose = ({ code }) => resolve(code);
  })`);
  t.equal(closed, 1006, 'a WebSocket at a host of the same site');
  const tried = site.logLines().filter((line) => line.msg === 'request' && line.path === '/live');
  t.match(tried, [{ status: 403, outcome: 'cross_site' }], 'its cookie came, and did not count');
  t.ok(answers.length >= 4 && answers.every(([, status]) => status === 403), 'the frame is refused as well');

  const elsewhere = await serveElsewhere(
    t,
    `<title>Elsewhere</title><iframe src="${at.shop}/orders"></iframe><img src="${at.wiki}/postern/start">`,
  );
  const before = await context.cookies(at.shop);
  await page.goto(elsewhere, { waitUntil: 'networkidle' });
  t.same(
    (await context.cookies(at.shop)).map(({ name }) => name),
    before.map(({ name }) => name),
    'nor is a host entered in a frame',
  );
});

t.test('by a provider, at a host that leads there at once', async (t) => {
  const stage = await start(t, 'http');
  if (stage === null) return;
  const { context, page, site } = stage;
  const { at } = site;
  const issuer = await startReturningProvider(t);
  const staff = { issuer, client_id: 'postern', accounts: 'create' };
  await site.configure({
    identity_providers: { staff },
    web: { title: 'Acme', password: false, home: '/postern/' },
  });
  await page.goto(`${at.preview}/orders`);
  await page.waitForURL(/\/postern\/callback\/staff\?/);
  t.match(
    await page.textContent('main'),
    /Sign in with staff|did not work/,
    'the provider sent it back without a code',
  );
  t.match(
    await page.getAttribute('a:has-text("staff")', 'href'),
    'start=',
    'and the next attempt leads to the host',
  );
  t.ok((await context.cookies(at.preview)).length === 1);
});
