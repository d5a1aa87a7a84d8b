import type { Socket } from 'node:net';
import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually, startForwarding } from '../support/gateway/forwarding.ts';
import { plainResponse, startRawUpstream } from '../support/servers/raw-upstream.ts';

t.test('all free connections die as requests arrive: each GET still gets its response', async (t) => {
  const connections = 8;
  const held = new Set<Socket>();
  const upstream = await startRawUpstream(t, ({ socket, text }) => {
    if (!text.includes('/together')) {
      socket.write(plainResponse());
      return;
    }
    held.add(socket);
    if (held.size === connections) for (const each of held) each.write(plainResponse());
  });
  const settings = { url: upstream.url, max_connections: connections };
  const gateway = await startForwarding(t, { upstreams: { app: settings } });
  const clients = await Promise.all(Array.from({ length: connections }, () => connectRaw(gateway.port)));
  const ask = async (path: string, count: number) => {
    for (const client of clients.slice(0, count)) client.write(gateway.raw(`GET ${path} HTTP/1.1`));
    if (path.endsWith('last')) for (const socket of held) socket.resetAndDestroy();
    return Promise.all(clients.slice(0, count).map(async (client) => (await client.response()).status));
  };
  await ask('/api/store/together', connections);
  await eventually(() => upstream.open === connections);
  t.same(await ask('/api/store/last', 3), [200, 200, 200]);
  for (const client of clients) client.reset();
});
