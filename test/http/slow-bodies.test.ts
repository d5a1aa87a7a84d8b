import t, { type Test } from 'tap';
import type { Exchange } from '../../src/http/exchange.ts';
import { WholeBody } from '../../src/http/request-body.ts';
import { connectRaw, type RawConnection } from '../support/clients/raw-client.ts';
import { eventually, type Forwarding, startForwarding } from '../support/gateway/forwarding.ts';
import { poolBecomes } from '../support/gateway/pool-gauges.ts';
import { startPublicListener } from '../support/gateway/public-listener.ts';
import { plainResponse, startRawUpstream } from '../support/servers/raw-upstream.ts';

/** Starts a request with a body of `length` bytes, waits until the gateway reads it, and sends the first four. */
async function beginBody({ port, raw }: Forwarding, name: string, length = 100_000): Promise<RawConnection> {
  const client = await connectRaw(port);
  const lines = ['Expect: 100-continue', `Content-Length: ${length}`];
  client.write(raw(`POST /api/store/${name} HTTP/1.1`, lines));
  await client.response();
  client.write('slow');
  return client;
}

t.test(
  'an incomplete body of a few bytes is held back for a second before it takes a connection to the upstream',
  async (t) => {
    let respond = () => {};
    const upstream = await startRawUpstream(t, ({ socket }) => {
      respond = () => socket.write(plainResponse());
    });
    const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
    const startedMs = performance.now();
    const slow = await beginBody(gateway, 'slow', 8);
    // On a busy machine that second may be over by now.
    if (performance.now() - startedMs < 950) t.equal(upstream.accepted, 0);
    await eventually(() => upstream.received.endsWith('\r\n\r\nslow'));
    t.ok(performance.now() - startedMs >= 950, 'not earlier');
    slow.write('ness');
    await eventually(() => upstream.received.endsWith('\r\n\r\nslowness'));
    respond();
    t.equal((await slow.response()).status, 200);
  },
);

t.test('a complete body, or 16 KiB of a long one, is not held back', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket }) => socket.write(plainResponse()));
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
  const slow = await beginBody(gateway, 'slow');
  const whole = await beginBody(gateway, 'whole', 8);
  whole.write('ness');
  t.equal((await whole.response()).status, 200);
  const long = await beginBody(gateway, 'long');
  // In pieces, which are forwarded in order.
  for (let i = 0; i < 1_024; i++) long.write(String(i).padStart(16, '0'));
  await eventually(() => /slow0{16}/.test(upstream.received));
  t.notMatch(upstream.received, /\/slow HTTP/, 'nothing of the body that is held back');
  await eventually(() => upstream.received.includes('\r\n\r\nslow0000000000000000000000000000000100'));
  await eventually(() => upstream.received.includes('\r\n\r\nslow') && upstream.received.includes('1023'));
  slow.reset();
  long.reset();
});

t.test('bodies that are still arriving take at most half of the connections', async (t) => {
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
  t.ok(await gateway.stillServes(), 'waiting uploads leave the other connections free');

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

t.test('a single connection is enough for a body that is still arriving', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket }) => socket.write(plainResponse()));
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url, max_connections: 1 } } });
  const slow = await beginBody(gateway, 'slow', 8);
  await eventually(() => upstream.received.includes('/slow'));
  slow.write('ness');
  t.equal((await slow.response()).status, 200);
});

/** A listener alone, which ignores the rate of a body for its first 100 ms; returns its port. */
async function listen(t: Test, onExchange: (exchange: Exchange) => void): Promise<number> {
  const { port } = await startPublicListener(t, onExchange, { limits: { bodyJudgedAfterMs: 100 } });
  return port;
}

/** Sends a long body byte by byte. */
async function drip(t: Test, port: number): Promise<void> {
  const client = await connectRaw(port);
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n');
  const dripping = setInterval(() => client.write('x'), 20);
  t.teardown(() => {
    clearInterval(dripping);
    client.reset();
  });
}

t.test('a body slower than the minimum rate is refused with request_timeout', async (t) => {
  const outcome = new Promise<string>((resolve) => {
    void listen(t, (exchange) =>
      exchange.readBody({
        leastBytesPerSecond: 1_024,
        wholeTimeoutMs: Number.POSITIVE_INFINITY,
        onBodyChunk: () => {},
        onBodyEnd: () => resolve('complete'),
        onBodyError: ({ code }) => resolve(code),
      }),
    ).then((port) => drip(t, port));
  });
  t.equal(await outcome, 'request_timeout');
});

t.test(
  'the total time of a body to a built-in endpoint is limited, however often a byte arrives',
  async (t) => {
    const outcome = new Promise<unknown>((resolve) => {
      void listen(t, (exchange) => {
        const body = new WholeBody(exchange, { maxBytes: 65_536, timeoutMs: 300 });
        Promise.resolve(body.read()).then(resolve, (error) => resolve(error.code));
      }).then((port) => drip(t, port));
    });
    t.equal(await outcome, 'request_timeout');
  },
);
