import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { type DnsServer, startDnsServer } from '../support/servers/dns-server.ts';
import { testInOwnNetwork } from '../support/servers/own-network.ts';
import { type RedisServer, requireRedis, startRedis } from '../support/stores/redis-server.ts';

const { username, password } = administrator;
/** More than libuv has threads. */
const silent = ['s1', 's2', 's3', 's4', 's5', 's6'];

const etc = {
  'resolv.conf': 'nameserver 127.0.0.1\nsearch shop.test svc.test\noptions ndots:5 timeout:5 attempts:2\n',
  'nsswitch.conf': 'hosts: files dns\n',
  hosts: '127.0.0.1 localhost\n127.0.0.1 listed\n',
};

/** A server on several addresses, which says on which it was asked, and closes every connection. */
async function startApp(t: Test, addresses: readonly string[]): Promise<number> {
  const respond = ({ socket }: IncomingMessage, response: ServerResponse) => {
    response.setHeader('connection', 'close');
    response.end(JSON.stringify({ address: socket.localAddress }));
  };
  let port = 0;
  for (const address of addresses) {
    const server = createServer(respond);
    await new Promise<void>((resolve) => {
      server.listen(port, address, resolve);
    });
    ({ port } = server.address() as AddressInfo);
    t.teardown(() => server.close());
  }
  return port;
}

async function start(t: Test): Promise<{ dns: DnsServer; redis: RedisServer; gateway: GatewayProcess }> {
  const dns = await startDnsServer(
    t,
    {
      'app.svc.test': ['127.0.0.1'],
      'redis.svc.test': ['127.0.0.1'],
      ...Object.fromEntries(silent.map((name) => [`${name}.shop.test`, 'silent' as const])),
    },
    53,
  );
  const redis = await startRedis(t);
  const port = await startApp(t, ['127.0.0.1', '127.0.0.2']);
  const names = ['app', 'listed', 'missing', ...silent];
  const gateway = await startGatewayProcess(t, {
    config: {
      stores: { records: 'sqlite:records.db', sessions: `redis://redis:${redis.port}` },
      upstreams: Object.fromEntries(names.map((name) => [name, { url: `http://${name}:${port}` }])),
      routes: names.map((name) => ({ prefix: `/api/${name}`, upstream: name, public: true })),
    },
  });
  await gateway.api.activate(username, password, bootstrapToken);
  return { dns, redis, gateway };
}

/** Keeps every silent name waited for, four requests each, until the function it gives is called. */
function keepAsking({ api }: GatewayProcess): () => Promise<void> {
  let isOver = false;
  const asking = silent
    .flatMap((name) => [name, name, name, name])
    .map(async (name) => {
      while (!isOver) await api.send({ path: `/api/${name}` });
    });
  return async () => {
    isOver = true;
    await Promise.all(asking);
  };
}

testInOwnNetwork(import.meta.filename, etc, () => {
  t.test('silent names delay no other connection', { timeout: 240_000 }, async (t) => {
    if (!requireRedis(t)) return;
    const { dns, redis, gateway } = await start(t);
    const { api } = gateway;
    const stop = keepAsking(gateway);
    const lineOf = (path: string) =>
      eventually(`a line of ${path}`, () => gateway.logLines().find((line) => line.path === path));

    t.match(await lineOf('/api/s1'), {
      status: 504,
      reason: 'name servers unavailable',
      errno: 'EAI_AGAIN',
      phase: 'lookup',
      upstream: 's1',
    });
    // Each on a connection of its own: the first ones had no address yet.
    for (let i = 0; i < 20; i++)
      for (const name of ['app', 'listed'])
        t.equal((await api.send({ path: `/api/${name}` })).status, 200, name);
    t.equal((await api.send({ path: '/api/missing' })).status, 502);
    t.match(await lineOf('/api/missing'), {
      reason: 'name not resolved',
      errno: 'ENOTFOUND',
      phase: 'lookup',
    });

    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await eventually('a sign-in by a new connection to Redis', async () => {
      await api.signIn(username, password);
      return true;
    });

    dns.records.set('app.svc.test', ['127.0.0.2']);
    await eventually('the address that has changed', async () => {
      const { json } = await api.send({ path: '/api/app' });
      return json.address === '127.0.0.2';
    });
    dns.records.set('app.shop.test', 'silent');
    const lineWhileAsked = (msg: string) =>
      eventually(`the line “${msg}”`, async () => {
        const { status } = await api.send({ path: '/api/app' });
        if (status !== 200) t.fail(`the earlier address is used, not ${status}`);
        return gateway.logLines().find((line) => line.msg === msg && line.host === 'app');
      });
    const failed = await lineWhileAsked('name lookup failed: name servers unavailable');
    t.match(failed, { level: 'warn', earlier_addresses_in_use: 1 });
    dns.records.delete('app.shop.test');
    await lineWhileAsked('name lookup works again');
    await stop();
  });
});
