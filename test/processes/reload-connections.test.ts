import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { echoed, type ReloadedGateway, startReloaded } from '../support/gateway/reload.ts';

/** A connection that is kept, and a response on it. */
async function connectKept({ port, key }: ReloadedGateway) {
  const connection = await connectRaw(port);
  return (path: string, header = 'Accept: */*') => {
    connection.write(`GET ${path} HTTP/1.1\r\nHost: gateway\r\nX-API-Key: ${key}\r\n${header}\r\n\r\n`);
    return connection.response();
  };
}

const client = '203.0.113.7';

t.test('whom to trust counts for connections there are and to come', async (t) => {
  const gateway = await startReloaded(t);
  const kept = await connectKept(gateway);
  const onKept = async () => echoed(await kept('/api/x', `X-Forwarded-For: ${client}`), 'x-forwarded-for');
  const onNew = async () =>
    echoed(await gateway.ask('/api/x', { 'X-Forwarded-For': client }), 'x-forwarded-for');
  const isNow = async (value: string) => {
    await eventually(`${value} on a new connection`, async () => (await onNew()) === value);
    t.equal(await onKept(), value);
  };
  await isNow('127.0.0.1');
  gateway.reload({ trusted_proxies: ['127.0.0.1'] });
  await isNow(`${client}, 127.0.0.1`);
  await gateway.ask('/api/by-proxy', { 'X-Forwarded-For': client });
  const line = await eventually('the line', () =>
    gateway.logLines().find(({ path }) => path === '/api/by-proxy'),
  );
  t.equal(line.address, client);
  gateway.reload({});
  await isNow('127.0.0.1');
});

t.test('limits count for connections there are and to come', async (t) => {
  const gateway = await startReloaded(t);
  const kept = await connectKept(gateway);
  const long = `/api/${'x'.repeat(2_000)}`;
  t.equal((await kept(long)).status, 200);
  gateway.reload({ limits: { target_bytes: '1KiB' } });
  await eventually('the limit', async () => (await gateway.statusOf(long)) === 414);
  t.equal((await kept('/api/x')).status, 200);
  t.equal((await kept(long)).status, 414);
  gateway.reload({});
  await eventually('no such limit', async () => (await gateway.statusOf(long)) === 200);
});

t.test('a higher limit of heads counts for connections to come', async (t) => {
  const gateway = await startReloaded(t);
  const kept = await connectKept(gateway);
  t.equal((await kept('/api/x')).status, 200);
  // Beyond what any engine reads before it judges: the limit, and the longest target of a sign-in.
  const long = 'x'.repeat(200_000);
  const onNew = async () => (await gateway.ask('/api/x', { 'X-Long': long })).status;
  t.equal(await onNew(), 431);
  gateway.reload({ limits: { header_bytes: '256KiB' } });
  await eventually('the limit', async () => (await onNew()) === 200);
  t.equal((await kept('/api/x', `X-Long: ${long}`)).status, 431);
});

t.test('the log keeps to its new level', async (t) => {
  const gateway = await startReloaded(t);
  const isLogged = (name: string) => gateway.logLines().some(({ path }) => path === name);
  const isSubscribed = (name: string) =>
    eventually('the line of a request', async () => {
      await gateway.ask(name);
      return isLogged(name);
    });
  await isSubscribed('/api/before');
  gateway.reload({ log: { level: 'warn' } });
  await eventually('the reload', async () => (await gateway.reloads('applied')) > 0);
  await gateway.ask('/api/meanwhile');
  gateway.reload({ log: { level: 'info' } });
  await isSubscribed('/api/after');
  t.notOk(isLogged('/api/meanwhile'));
});
