import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { judgeElapsed } from '../support/elapsed.ts';
import { eventually } from '../support/gateway/forwarding.ts';
import { accessLineOfUpgrade, startTunnelGateway, type Tunnel } from '../support/servers/upgrades.ts';

const foo = ['Connection: Upgrade', 'Upgrade: foo'];

/** Ways to end a connection, and what the other side must see. */
const sessionEnds: Record<string, (tunnel: Tunnel) => void> = {
  'the client ends': ({ client }) => client.end(),
  'the client is reset': ({ client }) => client.reset(),
  'the upstream ends': ({ upstream }) => upstream.end(),
  'the upstream is destroyed': ({ upstream }) => upstream.destroy(),
  'the upstream is reset': ({ upstream }) => upstream.resetAndDestroy(),
};

for (const [name, end] of Object.entries(sessionEnds))
  t.test(`once ${name} the other side has ended too, and the access line is written`, async (t) => {
    const gateway = await startTunnelGateway(t);
    const tunnel = await gateway.openTunnel({ lines: foo });
    const { client, upstream } = tunnel;
    client.write('up');
    upstream.write('down, down');
    await client.received('down, down');
    await eventually(() => gateway.bytes.received.endsWith('up'));
    const upstreamClosed = once(upstream, 'close');
    end(tunnel);
    await Promise.all([client.closed, upstreamClosed]);
    t.match(await accessLineOfUpgrade(gateway), {
      status: 101,
      bytes_in: 2,
      bytes_out: 10,
      key: gateway.keyId,
    });
    await eventually(() => gateway.bytes.open === 0);
    t.equal(gateway.logLines().filter(({ status }) => status === 101).length, 1);
  });

t.test('after one direction ends the other continues', async (t) => {
  const { openTunnel, bytes } = await startTunnelGateway(t);
  await t.test('the client has ended', async (t) => {
    const { client, upstream } = await openTunnel({ lines: foo, halfOpen: true });
    const ended = once(upstream, 'end');
    client.write('last words');
    client.end();
    await ended;
    t.ok(bytes.received.endsWith('last words'));
    upstream.end('the answer to them');
    await client.received('the answer to them');
    t.equal(await client.closed, 'ended');
  });
  await t.test('the upstream has ended', async (t) => {
    const { client, upstream } = await openTunnel({ lines: foo, halfOpen: true });
    upstream.end('last words');
    await client.received('last words');
    await sleep(50);
    client.write('the answer');
    await sleep(50);
    client.write(' to them');
    await eventually(() => bytes.received.endsWith('the answer to them'));
    client.end();
    t.equal(await client.closed, 'ended');
  });
});

t.test('a tunnel in which nothing passes is cut, and not before', async (t) => {
  const gateway = await startTunnelGateway(t, { settings: { idle_timeout: '300ms' } });
  const { client, upstream } = await gateway.openTunnel();
  const upstreamClosed = once(upstream, 'close');
  let closed = false;
  void client.closed.then(() => {
    closed = true;
  });
  for (let i = 0; i < 8; i++) {
    if (i % 2 === 0) client.write('x');
    else upstream.write('y');
    await sleep(100);
  }
  t.notOk(closed, 'either direction counts');
  const quietMs = performance.now();
  await Promise.all([client.closed, upstreamClosed]);
  judgeElapsed(t, quietMs, 1_000);
  t.match(await accessLineOfUpgrade(gateway), { outcome: 'idle_timeout' });
});

t.test('a gateway that stops gives tunnels shutdown.timeout, and then cuts them', async (t) => {
  const gateway = await startTunnelGateway(t, { config: { shutdown: { timeout: '400ms' } } });
  const { client, upstream } = await gateway.openTunnel();
  const upstreamClosed = once(upstream, 'close');
  const startedMs = performance.now();
  const stopped = gateway.stop();
  await sleep(100);
  upstream.write('still here');
  await client.received('still here');
  await Promise.all([stopped, client.closed, upstreamClosed]);
  t.ok(performance.now() - startedMs >= 390, 'not earlier');
  judgeElapsed(t, startedMs, 1_500);
});
