import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createCors } from '../../src/http/cors.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { createPassedMeaning } from '../../src/http/header-names.ts';
import { createReplies, type Replies } from '../../src/http/reply.ts';
import { Upstream } from '../../src/http1/client/client-pool.ts';
import { FieldBlock, UnwritableHead } from '../../src/http1/message/head-text.ts';
import { createForward } from '../../src/proxy/create-forward.ts';
import type { Forward } from '../../src/proxy/forward-options.ts';
import { createRoute, type ForwardingRoute } from '../../src/proxy/route-table.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import type { TestScope } from '../support/gateway/gateway.ts';
import { startPublicListener } from '../support/gateway/public-listener.ts';
import { routeOptions } from '../support/gateway/route-options.ts';

const hour = 3_600_000;
const injected = 'a\r\nSet-Cookie: stolen=1';

/** A client of a listener whose exchanges `handle` handles, and the errors it logged. */
async function listen(t: TestScope, handle: (exchange: Exchange, replies: Replies) => void, realm = 'acme') {
  const logged: unknown[] = [];
  const replies = createReplies({
    realm,
    cors: createCors({ origins: [] }),
    fieldsOn: () => [],
    insteadOf: () => null,
    onInternalError: (error) => void logged.push(error),
  });
  const { port } = await startPublicListener(t, (exchange) => {
    try {
      handle(exchange, replies);
    } catch (error) {
      replies.refuse(exchange, error);
    }
  });
  return { client: await connectRaw(port), logged };
}

/** Sends two requests on one connection: the first is refused, the second served. */
async function assertRefusedThenServed(
  t: Test,
  { client, logged }: Awaited<ReturnType<typeof listen>>,
): Promise<void> {
  client.write('GET /bad HTTP/1.1\r\nHost: a\r\n\r\n');
  const refused = await client.response();
  t.equal(refused.status, 500);
  t.equal(refused.json.code, 'internal_error');
  t.strictSame(refused.values('set-cookie'), []);
  t.equal(logged.length, 1);
  t.type(logged[0], UnwritableHead);
  client.write('GET /good HTTP/1.1\r\nHost: a\r\n\r\n');
  t.equal((await client.response()).status, 200);
}

t.test('an own response with a line break in its head becomes a 500', async (t) => {
  const listening = await listen(t, (exchange, replies) =>
    replies.send(exchange, { status: 200, headers: exchange.path === '/bad' ? ['X-A', injected] : [] }),
  );
  await assertRefusedThenServed(t, listening);
});

t.test('so does a refusal with one', async (t) => {
  const { Refusal } = await import('../../src/errors.ts');
  const listening = await listen(t, (exchange, replies) => {
    if (exchange.path === '/bad') throw new Refusal('method_not_allowed', { allow: [injected] });
    replies.send(exchange, { status: 200 });
  });
  await assertRefusedThenServed(t, listening);
});

/** Forwards to an upstream that serves every request; `more` are the values that can't be written. */
async function forwardTo(
  t: TestScope,
  more: { readonly cors?: string; readonly identity?: string },
): Promise<{ forward: (replies: Replies) => Forward; route: ForwardingRoute; targets: string[] }> {
  const targets: string[] = [];
  const server = createServer((request, response) => {
    targets.push(request.url!);
    response.end('served');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const upstream = new Upstream({
    name: 'u',
    address: { host: '127.0.0.1', port },
    tls: null,
    authority: 'u',
    host: more.identity ?? null,
    maxConnections: 2,
    maxWaiting: 1,
    shortestTimeoutMs: hour,
    connectTimeoutMs: 1_000,
    findAddresses: () => () => {},
  });
  t.teardown(() => {
    upstream.close();
    server.close();
  });
  const route = createRoute({
    ...routeOptions,
    upstream,
    identityHeadersOf: () => noIdentity,
    passedMeaning: createPassedMeaning({ passOddNames: false, passMethodOverride: false, dropped: [] }),
    isPublic: true,
    maxBodyBytes: 1_000,
    connectTimeoutMs: hour,
    responseTimeoutMs: hour,
    idleTimeoutMs: hour,
  });
  const forward = (replies: Replies) =>
    createForward({
      streams: { add() {}, remove() {} } as never,
      listsRemoved: true,
      via: 'this-gateway',
      ownCookies: { names: [], prefixes: [] },
      ownsCors: false,
      hasHsts: false,
      dropsServiceWorkerScope: false,
      corsHeaders: ({ path }) => (path === '/bad' && more.cors !== undefined ? ['X-A', more.cors] : []),
      refuse: (exchange, error) => replies.refuse(exchange, error),
    });
  return { forward, route, targets };
}

const noIdentity = new FieldBlock([]);

t.test('so does an upstream’s response with one', async (t) => {
  const { forward, route, targets } = await forwardTo(t, { cors: injected });
  const listening = await listen(t, (exchange, replies) => forward(replies)(exchange, route, null));
  await assertRefusedThenServed(t, listening);
  t.strictSame(targets, ['/bad', '/good']);
});

t.test('a request to an upstream with a line break in its head is refused before it is sent', async (t) => {
  const bad = await forwardTo(t, { identity: injected });
  const good = await forwardTo(t, {});
  const listening = await listen(t, (exchange, replies) => {
    const { forward, route } = exchange.path === '/bad' ? bad : good;
    forward(replies)(exchange, route, null);
  });
  await assertRefusedThenServed(t, listening);
  t.strictSame(bad.targets, []);
  t.strictSame(good.targets, ['/good']);
});
