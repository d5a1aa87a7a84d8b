import { once } from 'node:events';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { addUser } from '../support/administration/accounts.ts';
import {
  base,
  createHostBrowser,
  type HostBrowser,
  hostCookieName,
  notes,
  preview,
  startHostsGateway,
  wiki,
} from '../support/pages/hosts.ts';
import { ownForm } from '../support/pages/web.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';
import { closeCodeOf, tryWebSocket } from '../support/servers/web-sockets.ts';

/** An origin of `cors.origins`. */
const friend = 'https://app.example.com';
const bea = { username: 'bea', password: 'another horse battery' };

/** A gateway whose services accept WebSockets, at every host and below `/app` of `base_url`. */
async function start(t: Test) {
  const services = await startRecordingUpstream(undefined, { acceptsWebSockets: true });
  t.teardown(() => services.close());
  const gateway = await startHostsGateway(t, {
    upstreams: { app: { url: services.url } },
    cors: { origins: [friend] },
    shutdown: { timeout: '50ms' },
  });
  /** Signs a browser in at `base_url`, and enters the hosts. */
  async function signIn(person?: typeof bea): Promise<HostBrowser> {
    const browser = createHostBrowser(gateway);
    await browser.signIn(`${wiki}/`, person);
    for (const host of [notes, preview]) await browser.open(`${host}/`);
    return browser;
  }
  /** Tries to open a WebSocket at a host, from a page of `origin`. */
  function tryAt(at: string, cookie: string, origin = at) {
    const headers = { host: new URL(at).host, origin, ...(cookie !== '' && { cookie }) };
    return tryWebSocket(gateway.port, '/app/live', { headers });
  }
  async function openAt(browser: HostBrowser, origin: string): Promise<WebSocket> {
    const socket = await tryAt(origin, cookieOf(browser, origin));
    if (!(socket instanceof WebSocket)) throw new Error(`${origin}: ${socket.status} ${socket.text}`);
    return socket;
  }
  return { ...gateway, services, signIn, tryAt, openAt };
}

const cookieOf = (browser: HostBrowser, origin: string) =>
  [...browser.cookiesAt(origin)].map((pair) => pair.join('=')).join('; ');

async function echoes(socket: WebSocket): Promise<boolean> {
  socket.send('hello');
  const [echoed] = await once(socket, 'message');
  return String(echoed) === 'hello';
}

t.test('a WebSocket takes the cookie of its host alone, from pages of that host alone', async (t) => {
  const { services, signIn, tryAt, openAt } = await start(t);
  const browser = await signIn();
  for (const host of [wiki, preview]) {
    services.seen.length = 0;
    const socket = await openAt(browser, host);
    t.ok(await echoes(socket), host);
    socket.close();
    const [seen] = services.seen.splice(0);
    const told = ['host', 'x-auth-username', 'x-auth-method', 'cookie'];
    t.strictSame(
      told.map((name) => seen!.values(name)),
      [[new URL(host).host], ['ada'], ['session'], []],
      host,
    );
    const own = cookieOf(browser, host);
    const [, web] = cookieOf(browser, base).split('=');
    const cookies: Readonly<Record<string, string>> = {
      'no cookie': '',
      'an altered one': `${own}x`,
      'that of another host': cookieOf(browser, notes),
      'the web cookie': cookieOf(browser, base),
      'the web cookie under its name': `${hostCookieName}=${web}`,
    };
    for (const [name, cookie] of Object.entries(cookies))
      t.match(await tryAt(host, cookie), { status: 401 }, `${host}: ${name}`);
    const other = host === wiki ? preview : wiki;
    const http = host.replace('https:', 'http:');
    for (const origin of [base, other, notes, friend, http, `${host}:8443`, 'https://evil.example', 'null'])
      t.match(await tryAt(host, own, origin), { status: 403 }, `${host} from ${origin}`);
    t.strictSame(services.seen, [], 'no service sees those');
  }
  t.match(await tryAt(base, cookieOf(browser, wiki)), { status: 401 }, 'nor does base_url take a host’s');
  const allowed = await tryAt(base, cookieOf(browser, base), friend);
  t.ok(allowed instanceof WebSocket, 'at base_url, for the web cookie, cors.origins counts');
});

t.test('a sign-out anywhere ends the WebSockets of its session at every host', async (t) => {
  const { folder, signIn, openAt } = await start(t);
  await addUser(folder, { ...bea, scopes: [] });
  const others = [await signIn(), await signIn(bea)];
  const spared = await Promise.all(others.map((other) => openAt(other, wiki)));
  const everywhere = [base, wiki, notes, preview];
  for (const where of everywhere) {
    const browser = await signIn();
    const sockets = await Promise.all(everywhere.map((host) => openAt(browser, host)));
    const closed = Promise.all(sockets.map(closeCodeOf));
    const headers = { ...ownForm, origin: where };
    const signedOut = await browser.send(`${where}/postern/sign-out`, { method: 'POST', headers });
    t.match(signedOut, { status: 303, headers: { location: '/postern/signed-out' } });
    t.strictSame(await closed, [1008, 1008, 1008, 1008], where);
    for (const socket of spared) t.ok(await echoes(socket), 'those of another session go on');
  }
});
