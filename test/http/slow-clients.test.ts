import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createTrustedProxies } from '../../src/http/client-address.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { createPublicServer } from '../../src/http/public-server.ts';
import { eventually, startForwarding } from '../support/forwarding.ts';
import { connectRaw } from '../support/raw-client.ts';

const seconds = (count: number) => count * 1_000;

/** The listener alone, with a handler of the test's own. */
async function listen(t: Test, writeIdleTimeoutMs: number, onExchange: (exchange: Exchange) => void) {
  const server = createPublicServer({
    limits: {
      connections: 10,
      connectionsPerAddress: 0,
      targetBytes: 8_192,
      headerBytes: 16_384,
      headerCount: 100,
      headerTimeoutMs: seconds(10),
      bodyIdleTimeoutMs: seconds(10),
      bodyJudgedAfterMs: seconds(30),
      keepAliveTimeoutMs: 300,
      writeIdleTimeoutMs,
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
  return { server, port };
}

const piece = Buffer.alloc(32 * 1024, 'x');

/** Responses with as much as the kernel takes, and the rest, which waits in the gateway for the client to read. */
async function respondWithMoreThanIsTaken(exchange: Exchange): Promise<void> {
  exchange.begin(200, [], -1);
  while (exchange.write(piece)) await sleep(1);
  exchange.end(Buffer.from('the end'));
}

for (const [name, line] of [
  ['of a connection that closes', 'Connection: close'],
  ['of one that is kept', 'X-A: b'],
]) {
  const request = `GET / HTTP/1.1\r\nHost: a\r\n${line}\r\n\r\n`;

  t.test(`the end of an answer ${name} waits for a slow reader`, async (t) => {
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

  t.test(`the end of an answer ${name} waits no longer than write_idle_timeout`, async (t) => {
    const { port, server } = await listen(t, 400, respondWithMoreThanIsTaken);
    const client = await connectRaw(port);
    client.pause();
    client.write(request);
    await sleep(100);
    t.equal(server.connections, 1);
    await eventually(() => server.connections === 0, 1_500);
    client.reset();
  });
}

t.test('whoever does not read gains no time by sending', async (t) => {
  const gateway = await startForwarding(t, { limits: { write_idle_timeout: '400ms' } });
  gateway.upstream.response = (_request, response) => response.end(Buffer.alloc(32 * 1024 * 1024));
  const client = await connectRaw(gateway.port);
  client.pause();
  client.write(gateway.raw('GET /api/store/big HTTP/1.1'));
  const dripping = setInterval(() => client.write('G'), 50);
  t.teardown(() => clearInterval(dripping));
  await eventually(() => gateway.logLines().some(({ outcome }) => outcome === 'client_too_slow'), 2_000);
  t.pass('it is cut all the same');
});
