import { once } from 'node:events';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import type { GatewayProcess } from '../support/gateway/gateway-process.ts';
import { leeway, startReplica } from '../support/gateway/replicas.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { heading, openStreams, respondWithPage, signIn } from '../support/pages/browser-site.ts';
import { onFreePort } from '../support/servers/free-port.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';
import { startWebSocketUpstream } from '../support/servers/web-sockets.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

t.setTimeout(600_000);

interface Replica extends GatewayProcess {
  readonly origin: string;
}

/** Two processes on the same stores; the cookies of a browser know no ports, so that it is signed in to both. */
async function startPair(t: Test, sessions: string): Promise<readonly [Replica, Replica]> {
  const sockets = await startWebSocketUpstream(t);
  const app = await startHttpUpstream(t, respondWithPage);
  const startOne = async (folder?: string): Promise<Replica> => {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const config = {
      base_url: origin,
      listen: { port },
      web: {},
      upstreams: { app: { url: app.url }, sockets: { url: sockets.url } },
      routes: [
        { prefix: '/live', upstream: 'sockets', browser: true },
        { prefix: '/', upstream: 'app', browser: true },
      ],
    };
    return { ...(await startReplica(t, sessions, config, folder)), origin };
  };
  const first = await startOne();
  await first.api.activate(administrator.username, administrator.password, bootstrapToken);
  return [first, await startOne(first.folder)];
}

/** One that nothing listens on just now. */
const freePort = () =>
  onFreePort(async (port) => {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  });

async function judge(t: Test, sessions: string): Promise<void> {
  const context = await openBrowser(t);
  if (context === null) return;
  const [one, other] = await startPair(t, sessions);
  const [here, there] = [await context.newPage(), await context.newPage()];
  await here.goto(`${one.origin}/orders`);
  await signIn(here);
  t.equal(await heading(here), 'GET /orders');
  await there.goto(`${other.origin}/orders?page=2`);
  t.equal(await heading(there), 'GET /orders?page=2', 'signed in at both');
  const streams = await openStreams(there);
  const form = await context.newPage();
  await form.goto(`${other.origin}/orders/new`);

  await streams.mark();
  await here.goto(`${one.origin}/postern/`);
  await here.click('text=Sign out');
  t.equal(await heading(here), 'You are signed out');
  const { code, tookMs } = await streams.ended();
  t.equal(code, 1008);
  t.ok(tookMs < 1_000 * leeway, `within a second: ${Math.round(tookMs)} ms`);
  await there.reload();
  t.equal(await heading(there), 'Sign in');
  await form.click('#order');
  t.equal(await heading(form), 'Please sign in');

  await signIn(there);
  t.equal(await heading(there), 'GET /orders?page=2', 'and at both again');
  await here.goto(`${one.origin}/orders`);
  t.equal(await heading(here), 'GET /orders');
}

t.test('a sign-out at one of two gateways on one file is one at the other', async (t) => {
  await judge(t, 'sqlite:sessions.db');
});

t.test('a sign-out at one of two gateways on one Redis is one at the other', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  await judge(t, redis.url);
});
