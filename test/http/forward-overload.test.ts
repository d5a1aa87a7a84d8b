import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually, startForwarding } from '../support/gateway/forwarding.ts';
import { plainResponse, startRawUpstream } from '../support/servers/raw-upstream.ts';

t.test('beyond max_connections and max_waiting it is 503 at once', async (t) => {
  const held: (() => void)[] = [];
  const upstream = await startRawUpstream(t, ({ socket }) => {
    held.push(() => socket.write(plainResponse()));
  });
  const settings = { url: upstream.url, max_connections: 2, max_waiting: 1 };
  const gateway = await startForwarding(t, { upstreams: { app: settings } });
  const ask = async () => {
    const connection = await connectRaw(gateway.port);
    connection.write(gateway.raw('GET /api/store/x HTTP/1.1', ['Connection: close']));
    return connection.response();
  };
  const admitted = [ask(), ask()];
  await eventually(() => held.length === 2);
  admitted.push(ask());
  await new Promise((resolve) => setTimeout(resolve, 30));
  const refused = await ask();
  t.match(refused, { status: 503, json: { code: 'upstream_overloaded' } });
  t.match(refused.values('retry-after'), [/^\d+$/]);
  t.equal(upstream.open, 2);

  held.shift()!();
  await eventually(() => held.length === 2);
  t.equal(upstream.accepted, 2, 'the waiting request takes the connection that became free');
  for (const response of held) response();
  for (const response of await Promise.all(admitted)) t.equal(response.status, 200);
  const later = ask();
  await eventually(() => held.length === 3);
  held[2]!();
  t.equal((await later).status, 200);
});

t.test('a request that waits longer than response_timeout gets 504', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket, text }) => {
    if (text.includes('/short')) socket.write(plainResponse());
  });
  const settings = { url: upstream.url, max_connections: 1, response_timeout: '5s' };
  const gateway = await startForwarding(t, {
    upstreams: { app: settings },
    routes: [
      { prefix: '/api/short', upstream: 'app', response_timeout: '200ms' },
      { prefix: '/api', upstream: 'app' },
    ],
  });
  const holder = await connectRaw(gateway.port);
  holder.write(gateway.raw('GET /api/held HTTP/1.1'));
  await eventually(() => upstream.received.includes('/held'));
  t.equal((await gateway.api.send({ path: '/api/short', apiKey: gateway.key })).status, 504);
  t.notMatch(upstream.received, /short/);
  holder.reset();
});
