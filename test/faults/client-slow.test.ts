import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually, startForwarding } from '../support/gateway/forwarding.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { startRawUpstream } from '../support/servers/raw-upstream.ts';

type Scope = Parameters<typeof startForwarding>[0];

/** An upstream whose answers are as long as the path says, with their length or to the end of the connection. */
async function startSized(t: Scope, config: object = {}) {
  const upstream = await startRawUpstream(t, ({ socket, text }) => {
    const [, framing, size] = / \/api\/store\/(\w+)\/(\d+) /.exec(text) ?? [];
    const head = `HTTP/1.1 200 OK\r\n${framing === 'length' ? `Content-Length: ${size}\r\n` : ''}\r\n`;
    const whole = Buffer.concat([Buffer.from(head), Buffer.alloc(Number(size), 'x')]);
    if (framing === 'length') socket.write(whole);
    else socket.end(whole);
  });
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } }, ...config });
  const ask = async (path: string, version: string) => {
    const client = await connectRaw(gateway.port);
    client.pause();
    client.write(gateway.raw(`GET /api/store/${path} HTTP/${version}`, ['Connection: close']));
    return client;
  };
  /** How much the gateway and the kernel take for a client that reads nothing. */
  const taken = async () => {
    const client = await ask('length/67108864', '1.1');
    await new Promise((resolve) => setTimeout(resolve, 300));
    client.reset();
    const bytesOut = () =>
      gateway.logLines().find(({ path }) => path === '/api/store/length/67108864')?.bytes_out;
    await eventually(() => bytesOut() !== undefined);
    return bytesOut() as number;
  };
  return { gateway, ask, taken };
}

/** Sizes of which some leave an end with the gateway when the kernel takes no more: that may be 4 MiB, or a twentieth. */
const sizesAround = (taken: number) =>
  Array.from({ length: isLong ? 32 : 11 }, (_, i) =>
    Math.round(taken * (1.012 - i * (isLong ? 0.003 : 0.009))),
  );

t.test('a client that reads late gets the end of a response that ends its connection', async (t) => {
  const { ask, taken } = await startSized(t);
  const sizes = sizesAround(await taken());
  const clients = await Promise.all(sizes.map((size) => ask(`length/${size}`, '1.1')));
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  for (const [i, client] of clients.entries()) {
    client.resume();
    const response = await client.response();
    t.ok(response.isWhole, `${response.body.length} of ${sizes[i]} bytes`);
  }
});

t.test('a client that does not come back is cut so that the body does not look whole', async (t) => {
  const { ask, taken } = await startSized(t, { limits: { write_idle_timeout: '300ms' } });
  const sizes = sizesAround(await taken());
  const clients = await Promise.all(sizes.map((size) => ask(`close/${size}`, '1.0')));
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  for (const [i, client] of clients.entries()) {
    client.resume();
    const closed = await client.closed;
    const length = await client.response().then(
      ({ body }) => body.length,
      () => 0,
    );
    t.ok(closed === 'reset' || length === sizes[i], `${length} of ${sizes[i]} bytes, ${closed}`);
  }
});

t.test('a client that ends its side amid a body that would end with the connection', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket }) => socket.write('HTTP/1.1 200 OK\r\n\r\nsome'));
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
  const client = await connectRaw(gateway.port);
  client.write(gateway.raw('GET /api/store/x HTTP/1.0'));
  await client.received('some');
  client.end();
  t.equal(await client.closed, 'reset', 'is not told that it has all of it');
  await eventually(() => upstream.open === 0);
});
