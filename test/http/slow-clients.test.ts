import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Exchange } from '../../src/http/exchange.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually, startForwarding } from '../support/gateway/forwarding.ts';
import { startPublicListener } from '../support/gateway/public-listener.ts';

const seconds = (count: number) => count * 1_000;

/** A listener alone. */
const listen = (t: Test, writeIdleTimeoutMs: number, onExchange: (exchange: Exchange) => void) =>
  startPublicListener(t, onExchange, { limits: { writeIdleTimeoutMs, keepAliveTimeoutMs: 300 } });

const piece = Buffer.alloc(32 * 1024, 'x');

/** Responds with more than the kernel accepts; the rest waits in the gateway until the client reads. */
async function respondWithMoreThanIsTaken(exchange: Exchange): Promise<void> {
  exchange.begin(200, [], -1);
  while (exchange.write(piece)) await sleep(1);
  exchange.end(Buffer.from('the end'));
}

for (const [name, line] of [
  ['before the connection closes', 'Connection: close'],
  ['on a connection that stays open', 'X-A: b'],
]) {
  const request = `GET / HTTP/1.1\r\nHost: a\r\n${line}\r\n\r\n`;

  t.test(`the end of a response ${name} waits for a slow reader`, async (t) => {
    const { port } = await listen(t, seconds(10), respondWithMoreThanIsTaken);
    const client = await connectRaw(port);
    client.pause();
    client.write(request);
    await sleep(2_500);
    client.resume();
    const response = await client.response();
    t.ok(response.isWhole);
    t.ok(response.text.endsWith('the end'));
  });

  t.test(`the end of a response ${name} waits no longer than write_idle_timeout`, async (t) => {
    const { port, server } = await listen(t, 400, respondWithMoreThanIsTaken);
    const client = await connectRaw(port);
    client.pause();
    client.write(request);
    await sleep(100);
    t.equal(server.connections, 1);
    await eventually(() => server.connections === 0);
    client.reset();
  });
}

t.test('a client that does not read gains no time by sending', async (t) => {
  const gateway = await startForwarding(t, { limits: { write_idle_timeout: '400ms' } });
  gateway.upstream.response = (_request, response) => response.end(Buffer.alloc(32 * 1024 * 1024));
  const client = await connectRaw(gateway.port);
  client.pause();
  client.write(gateway.raw('GET /api/store/big HTTP/1.1'));
  const dripping = setInterval(() => client.write('G'), 50);
  t.teardown(() => clearInterval(dripping));
  await eventually(() => gateway.logLines().some(({ outcome }) => outcome === 'client_too_slow'));
  t.pass('the connection is cut all the same');
});
