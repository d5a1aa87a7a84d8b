import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { startRawUpstream } from '../support/servers/raw-upstream.ts';

const rounds = 50;
const response = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;

// The second response leaves the upstream two turns of the loop behind the first: when that has been read, and whoever
// waits for the connection would have it at once.
t.test('an unsolicited response is not given to the next request on the connection', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket, text }) => {
    const [, path = ''] = text.split(' ', 2);
    socket.write(response(path));
    setImmediate(() => setImmediate(() => socket.write(response('planted'))));
  });
  const gateway = await startForwarding(t, {
    upstreams: { app: { url: upstream.url, max_connections: 1 } },
  });
  for (let round = 0; round < rounds; round++) {
    const clients = await Promise.all([1, 2, 3].map(() => connectRaw(gateway.port)));
    for (const [index, client] of clients.entries())
      client.write(gateway.raw(`GET /api/store/${round}-${index} HTTP/1.1`));
    const responses = await Promise.all(clients.map((client) => client.response()));
    // Its connection may have been closed, but it must not get another request's response.
    for (const [index, { status, text }] of responses.entries())
      if (status === 200) t.equal(text, `/api/store/${round}-${index}`);
    for (const client of clients) client.reset();
  }
  t.ok(upstream.accepted > rounds, 'connections with extra bytes are closed');
});

t.test('a resting connection does not cost a slot in the pool', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket }) => socket.write(response('ok')));
  const gateway = await startForwarding(t, {
    upstreams: { app: { url: upstream.url, max_connections: 1, max_waiting: 0 } },
  });
  const client = await connectRaw(gateway.port);
  for (let round = 0; round < rounds; round++) {
    client.write(gateway.raw('GET /api/store/x HTTP/1.1'));
    t.equal((await client.response()).status, 200);
  }
  client.reset();
  t.equal(upstream.accepted, 1, 'it serves on');
});
