import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createTrustedProxies } from '../../src/http/client-address.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { createPublicServer } from '../../src/http/public-server.ts';
import { WholeBody } from '../../src/http/request-body.ts';
import { eventually, type Forwarding, startForwarding } from '../support/forwarding.ts';
import { poolBecomes } from '../support/pool-gauges.ts';
import { connectRaw, type RawConnection } from '../support/raw-client.ts';
import { plainResponse, startRawUpstream } from '../support/raw-upstream.ts';

const hour = 3_600_000;

/** Begins a body of so many bytes that the gateway reads, and of which the first few come. */
async function beginBody({ port, raw }: Forwarding, name: string, length = 100_000): Promise<RawConnection> {
  const client = await connectRaw(port);
  const lines = ['Expect: 100-continue', `Content-Length: ${length}`];
  client.write(raw(`POST /api/store/${name} HTTP/1.1`, lines));
  await client.response();
  client.write('slow');
  return client;
}

t.test('a body of a few bytes waits a second before it takes a connection to the upstream', async (t) => {
  let respond = () => {};
  const upstream = await startRawUpstream(t, ({ socket }) => {
    respond = () => socket.write(plainResponse());
  });
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
  const startedMs = performance.now();
  const slow = await beginBody(gateway, 'slow', 8);
  t.equal(upstream.accepted, 0);
  await eventually(() => upstream.received.endsWith('\r\n\r\nslow'));
  t.ok(performance.now() - startedMs >= 950, 'not before');
  slow.write('ness');
  await eventually(() => upstream.received.endsWith('\r\n\r\nslowness'));
  respond();
  t.equal((await slow.response()).status, 200);
});

t.test('a body that is whole, or 16 KiB of a long one, does not wait', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket }) => socket.write(plainResponse()));
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
  const slow = await beginBody(gateway, 'slow');
  const whole = await beginBody(gateway, 'whole', 8);
  whole.write('ness');
  t.equal((await whole.response()).status, 200);
  const long = await beginBody(gateway, 'long');
  // In pieces, which are sent on in their order.
  for (let i = 0; i < 1_024; i++) long.write(String(i).padStart(16, '0'));
  await eventually(() => /slow0{16}/.test(upstream.received));
  t.notMatch(upstream.received, /\/slow HTTP/, 'nothing of the one that waits');
  await eventually(() => upstream.received.includes('\r\n\r\nslow0000000000000000000000000000000100'));
  await eventually(() => upstream.received.includes('\r\n\r\nslow') && upstream.received.includes('1023'));
  slow.reset();
  long.reset();
});

t.test('bodies on their way hold half of the connections, and the others serve', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket, text }) => {
    if (!text.startsWith('POST')) socket.write(plainResponse());
  });
  const settings = { url: upstream.url, max_connections: 4, max_waiting: 2 };
  const gateway = await startForwarding(t, { upstreams: { app: settings } });
  const slow = [await beginBody(gateway, 'a'), await beginBody(gateway, 'b'), await beginBody(gateway, 'c')];
  await poolBecomes(gateway.managementPort, ({ busy, waiting }) => busy === 2 && waiting === 1);
  t.ok(await gateway.stillServes());

  slow.push(await beginBody(gateway, 'd'));
  await poolBecomes(gateway.managementPort, ({ waiting }) => waiting === 2);
  const refused = await beginBody(gateway, 'e');
  t.match(await refused.response(), { status: 503, json: { code: 'upstream_overloaded' } });
  t.ok(await gateway.stillServes(), 'who waits with a body takes nobody’s place');

  t.notMatch(upstream.received, /\/store\/c/);
  slow[0]!.reset();
  await eventually(() => upstream.received.includes('/store/c'));
  await poolBecomes(gateway.managementPort, ({ busy, waiting }) => busy === 2 && waiting === 1);
  slow[1]!.write('x'.repeat(99_996));
  await eventually(() => upstream.received.includes('/store/d'));
  await poolBecomes(gateway.managementPort, ({ waiting }) => waiting === 0);
  for (const client of slow) client.reset();
  await poolBecomes(gateway.managementPort, ({ busy }) => busy === 0);
});

t.test('one connection is enough for a body on its way', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket }) => socket.write(plainResponse()));
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url, max_connections: 1 } } });
  const slow = await beginBody(gateway, 'slow', 8);
  await eventually(() => upstream.received.includes('/slow'));
  slow.write('ness');
  t.equal((await slow.response()).status, 200);
});

/** The listener alone, whose bodies are judged after a moment, with a handler of the test's own. */
async function listen(t: Test, onExchange: (exchange: Exchange) => void): Promise<number> {
  const server = createPublicServer({
    limits: {
      connections: 10,
      connectionsPerAddress: 0,
      targetBytes: 8_192,
      headerBytes: 16_384,
      headerCount: 100,
      headerTimeoutMs: hour,
      bodyIdleTimeoutMs: hour,
      bodyJudgedAfterMs: 100,
      keepAliveTimeoutMs: hour,
      writeIdleTimeoutMs: hour,
      requestsPerConnection: 0,
    },
    proxies: createTrustedProxies([]),
    realm: 'test',
    tls: null,
    onExchange,
    onRefused: () => {},
    onClosed: () => {},
    onUnreadable: () => {},
  });
  const { port }: AddressInfo = await server.listen('127.0.0.1', 0);
  t.teardown(() => server.drain(0));
  return port;
}

/** Sends a byte of a long body now and then. */
async function drip(t: Test, port: number): Promise<void> {
  const client = await connectRaw(port);
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n');
  const dripping = setInterval(() => client.write('x'), 20);
  t.teardown(() => {
    clearInterval(dripping);
    client.reset();
  });
}

t.test('a body slower than its least rate is request_timeout', async (t) => {
  const outcome = new Promise<string>((resolve) => {
    void listen(t, (exchange) =>
      exchange.readBody({
        leastBytesPerSecond: 1_024,
        wholeTimeoutMs: Number.POSITIVE_INFINITY,
        onBodyChunk: () => {},
        onBodyEnd: () => resolve('whole'),
        onBodyError: ({ code }) => resolve(code),
      }),
    ).then((port) => drip(t, port));
  });
  t.equal(await outcome, 'request_timeout');
});

t.test('the whole time of an own body is bounded, however often a byte comes', async (t) => {
  const outcome = new Promise<unknown>((resolve) => {
    void listen(t, (exchange) => {
      const body = new WholeBody(exchange, { maxBytes: 65_536, timeoutMs: 300 });
      Promise.resolve(body.read()).then(resolve, (error) => resolve(error.code));
    }).then((port) => drip(t, port));
  });
  t.equal(await outcome, 'request_timeout');
});
