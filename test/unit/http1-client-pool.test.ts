import { type AddressInfo, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { Refusal } from '../../src/errors.ts';
import { Upstream } from '../../src/http1/client/client-pool.ts';
import type { UpstreamRequest } from '../../src/http1/client/client-request.ts';
import { UpstreamError } from '../../src/http1/client/upstream-error.ts';
import { headText } from '../../src/http1/message/head-text.ts';
import { eventually } from '../support/eventually.ts';

/** An upstream that responds on demand, and a pool of connections to it. */
async function listen(
  t: Test,
  bounds: {
    readonly maxConnections: number;
    readonly maxWaiting: number;
    readonly shortestTimeoutMs?: number;
  },
) {
  /** The targets received, with their connections, in order. */
  const asked: { readonly target: string; readonly socket: Socket }[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const [, target] = /^GET (\S+) /.exec(bytes.toString('latin1')) ?? [];
      if (target !== undefined) asked.push({ target, socket });
    });
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
    host: null,
    shortestTimeoutMs: 3_600_000,
    connectTimeoutMs: 1_000,
    findAddresses: () => () => {},
    ...bounds,
  });
  t.teardown(() => {
    upstream.close();
    server.close();
  });
  const targets = () => asked.map(({ target }) => target);
  const come = (count: number) => eventually(`${count} requests have come`, () => asked.length === count);
  const respond = (target: string) =>
    asked
      .findLast((each) => each.target === target)!
      .socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  return { upstream, asked, targets, come, respond };
}

/** Sends a request; `ended` resolves with its response, and rejects when it fails. */
function send(upstream: Upstream, target: string, isUploading = false) {
  const over = Promise.withResolvers<void>();
  const request: UpstreamRequest = {
    connection: null,
    waitingSince: 0,
    takenAt: 0,
    method: 'GET',
    target,
    fields: ['Host', 'u'],
    headText: headText(`GET ${target} HTTP/1.1`, ['Host', 'u']),
    chunked: false,
    hasBody: isUploading,
    isUploading,
    upgrade: null,
    connectTimeoutMs: 10_000,
    responseTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
    onSent() {},
    onDrain() {},
    onInterim() {},
    onHead() {},
    onData() {},
    onCaughtUp() {},
    onSwitch() {},
    onEnd: () => over.resolve(),
    onError: over.reject,
  };
  upstream.send(request);
  // Requests that are still open at the end of a test may end in any way.
  over.promise.catch(() => {});
  return { request, ended: over.promise };
}

t.test('no more connections than allowed; the others wait, and one too many is refused', async (t) => {
  const { upstream, targets, come, respond } = await listen(t, { maxConnections: 2, maxWaiting: 2 });
  for (const target of ['/1', '/2', '/3', '/4']) send(upstream, target);
  t.strictSame(upstream.load(), { busy: 2, free: 0, upgraded: 0, waiting: 2 });
  t.throws(() => send(upstream, '/5'), new Refusal('upstream_overloaded'));
  await come(2);
  respond('/1');
  await come(3);
  t.equal(targets()[2], '/3', 'in the order of arrival');
  respond('/2');
  await come(4);
  t.equal(targets()[3], '/4');
  t.strictSame(upstream.load(), { busy: 2, free: 0, upgraded: 0, waiting: 0 });
});

t.test('a connection whose response is complete carries the next request', async (t) => {
  const { upstream, asked, come, respond } = await listen(t, { maxConnections: 8, maxWaiting: 1 });
  for (const [i, target] of ['/1', '/2', '/3'].entries()) {
    const { ended } = send(upstream, target);
    await come(i + 1);
    respond(target);
    await ended;
    await eventually('the connection is free', () => upstream.load().free === 1);
  }
  t.equal(new Set(asked.map(({ socket }) => socket)).size, 1);
});

t.test('requests whose body is still arriving get half of the connections', async (t) => {
  const { upstream, targets, come } = await listen(t, { maxConnections: 4, maxWaiting: 9 });
  const uploads = ['/u1', '/u2', '/u3', '/u4'].map((target) => send(upstream, target, true));
  await come(2);
  t.strictSame(targets().sort(), ['/u1', '/u2']);
  send(upstream, '/1');
  await come(3);
  t.equal(targets()[2], '/1', 'another request need not wait for them');
  upstream.bodyReceived(uploads[0]!.request);
  await come(4);
  t.equal(targets()[3], '/u3', 'one body is complete: the next may start');
  t.strictSame(upstream.load(), { busy: 4, free: 0, upgraded: 0, waiting: 1 });
});

t.test('a request that is forgotten waits no more', async (t) => {
  const { upstream, targets, come, respond } = await listen(t, { maxConnections: 1, maxWaiting: 2 });
  send(upstream, '/1');
  const { request } = send(upstream, '/2');
  send(upstream, '/3');
  upstream.forget(request);
  await come(1);
  respond('/1');
  await come(2);
  t.strictSame(targets(), ['/1', '/3']);
});

t.test('a connection that dies makes room for what waits', async (t) => {
  const { upstream, asked, come } = await listen(t, { maxConnections: 1, maxWaiting: 1 });
  const { ended } = send(upstream, '/1');
  send(upstream, '/2');
  await come(1);
  asked[0]!.socket.destroy();
  await t.rejects(ended, new UpstreamError('reset'));
  await come(2);
  t.equal(asked[1]!.target, '/2');
});

t.test('the connection that has been free for longest is the one to close', async (t) => {
  const { upstream, asked, come, respond } = await listen(t, { maxConnections: 8, maxWaiting: 1 });
  t.equal(upstream.closeFree(), false, 'there is none');
  send(upstream, '/1');
  const { ended } = send(upstream, '/2');
  await come(2);
  t.equal(upstream.closeFree(), false, 'both are busy');
  respond('/2');
  await ended;
  await eventually('one is free', () => upstream.load().free === 1);
  respond('/1');
  await eventually('both are free', () => upstream.load().free === 2);
  const [, longest] = asked.toSorted((a, b) => a.target.localeCompare(b.target));
  const closed = new Promise((resolve) => longest!.socket.once('close', resolve));
  t.equal(upstream.closeFree(), true);
  await closed;
  t.strictSame(upstream.load(), { busy: 0, free: 1, upgraded: 0, waiting: 0 });
});

t.test('timeouts are checked only while there are connections', async (t) => {
  const { upstream, asked, come } = await listen(t, {
    maxConnections: 1,
    maxWaiting: 1,
    shortestTimeoutMs: 40,
  });
  t.equal(upstream.isChecked, false, 'none has been opened yet');
  for (const count of [1, 2]) {
    const { ended } = send(upstream, `/${count}`);
    t.equal(upstream.isChecked, true);
    await come(count);
    asked.at(-1)!.socket.destroy();
    await t.rejects(ended, new UpstreamError('reset'));
    await eventually('the checks have stopped', () => !upstream.isChecked);
  }
});
