import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { startHoldingUpstream, startNarrowGateway, tally } from '../support/gateway/few-descriptors.ts';
import { deafen } from '../support/servers/deaf-addresses.ts';
import { testInOwnNetwork } from '../support/servers/own-network.ts';

const dead = Array.from({ length: 12 }, (_, i) => `127.0.9.${i + 1}`);
const hosts = ['127.0.0.1 localhost', ...[...dead, '127.0.0.1'].map((address) => `${address} app`), ''];

testInOwnNetwork(import.meta.filename, { hosts: hosts.join('\n') }, () => {
  t.test('many addresses tried side by side leave probes and others theirs', async (t) => {
    const upstream = await startHoldingUpstream(t);
    const port = Number(new URL(upstream.url).port);
    await deafen(t, port, dead);
    const gateway = await startNarrowGateway(t, 256, { upstreams: { app: { url: `http://app:${port}` } } });
    // Those that made the key have no place among them.
    await eventually('nobody is connected', async () => (await gateway.metric('connections')) === 0);
    const inside = await gateway.crowd(400);
    // Each opens a connection at the same time, while none is known to be live: eight sockets each would be far too many.
    const responses = await Promise.all(inside.map((connection) => gateway.ask(connection, '/api/store/x')));
    t.strictSame(tally(responses), { 200: inside.length });
    t.equal(inside.length, await gateway.metric('connections_max'));
    t.equal(await gateway.metric('descriptors_exhausted_seconds_total'), 0);
    for (const connection of inside) connection.reset();
  });
});
