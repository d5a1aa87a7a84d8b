import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { outcomeOf } from '../support/clients/tls-client.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { requireProgram } from '../support/programs.ts';
import { forServers, makeAuthority } from '../support/servers/issued-certificates.ts';

/** A gateway whose authorities are in a file of the test. */
async function start(t: Test, engine = 'built_in') {
  const folder = t.testdir();
  const [first, second] = [makeAuthority(folder, 'first'), makeAuthority(folder, 'second')];
  const { certFile: cert, keyFile: key } = first.issue('own', { extensions: forServers });
  const client_ca = join(folder, 'clients.crt');
  copyFileSync(first.caFile, client_ca);
  const listen = { engine, tls: { cert, key, client_ca } };
  const gateway = await startTestGateway(t, { config: { listen, shutdown: { timeout: '50ms' } } });
  return { folder, client_ca, first, second, gateway };
}

/** Passes everything on but what the client sends after its first bytes, the ClientHello, until it is released. */
async function startHoldingRelay(t: Test, port: number) {
  const held = Promise.withResolvers<() => void>();
  const relay = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    ignoreErrors(client, server);
    server.pipe(client);
    client.once('data', (hello) => {
      server.write(hello);
      client.pause();
      client.once('readable', () => held.resolve(() => client.pipe(server)));
    });
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  t.teardown(() => relay.close());
  return { port: (relay.address() as AddressInfo).port, held: held.promise };
}

function ignoreErrors(...sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.on('error', () => {});
}

for (const engine of ['built_in', 'node'])
  t.test(`${engine}: a handshake that began under the authorities of before is not completed`, async (t) => {
    if (!requireProgram(t, 'openssl')) return;
    const { client_ca, first, second, gateway } = await start(t, engine);
    const { port } = gateway;
    const [good, renewed] = [first.issue('good'), second.issue('new')];
    const slow = await startHoldingRelay(t, port);
    t.equal(await outcomeOf(port, good), 200);
    const outcome = outcomeOf(slow.port, good);
    const release = await slow.held;
    copyFileSync(second.caFile, client_ca);
    await eventually('the file is read', async () => (await outcomeOf(port, renewed)) === 200);
    release();
    t.equal(typeof (await outcome), 'string');
    t.equal(gateway.logLines().filter(({ msg }) => msg === 'request').length, 2);
  });

t.test('authorities that nobody could connect with are not taken', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const { folder, client_ca, first, second, gateway } = await start(t);
  const { port, managementPort, logLines } = gateway;
  const good = first.issue('good');
  const extensions = ['basicConstraints = critical, CA:TRUE'];
  const lines = () => logLines().filter(({ msg }) => /^TLS files could not be reloaded/.test(String(msg)));
  const contents = {
    'nothing at all': '',
    'no PEM': 'certificates to follow\n',
    'an authority without its root': String(second.issue('between', { extensions }).cert),
    'a damaged certificate': String(good.cert).replace(/\n.{64}\n/, '\n'),
  };
  let failed = 0;
  for (const [what, content] of Object.entries(contents)) {
    writeFileSync(client_ca, content);
    await eventually(what, () => lines().length > failed);
    failed = lines().length;
    t.equal(await outcomeOf(port, good), 200, `${what}: the old ones are in use`);
  }
  t.equal((await scrape(managementPort)).value('config_reloads_total', { outcome: 'failed' }), failed);
  copyFileSync(join(folder, 'second.crt'), client_ca);
  const renewed = second.issue('new');
  await eventually('good ones are', async () => (await outcomeOf(port, renewed)) === 200);
});
