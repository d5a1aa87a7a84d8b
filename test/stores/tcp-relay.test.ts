import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { startTcpRelay } from '../support/servers/tcp-relay.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { hasApplicationName, startPostgres } from '../support/stores/postgres-server.ts';

/** Long enough that a response would have come. */
const shortMs = 200;
const isListener = hasApplicationName('listener');

/** A server, a relay in front of it, and what the relay's clients get. */
async function startStage(t: Test) {
  const server = await startPostgres(t);
  const relay = await startTcpRelay(t, server);
  const connectAs = async (name: string, connectionTimeoutMillis = 5_000) => {
    const client = new Client({
      connectionString: relay.url,
      application_name: name,
      connectionTimeoutMillis,
    });
    client.on('error', () => {});
    t.teardown(() => client.end().catch(() => {}));
    await client.connect();
    return client;
  };
  return { server, relay, connectAs };
}

const response = async (client: Client) => (await client.query('SELECT 1 AS a')).rows[0].a;

const isAnswered = (client: Client) =>
  Promise.race([response(client).then(Boolean, () => false), sleep(shortMs, false)]);

t.test('connections are cut, all or those of a kind', async (t) => {
  if (!requirePostgres(t)) return;
  const { relay, connectAs } = await startStage(t);
  const [listener, worker] = [await connectAs('listener'), await connectAs('worker')];
  t.equal(relay.open(), 2);
  t.equal(relay.open(isListener), 1);
  const ended = new Promise((resolve) => listener.once('end', resolve));
  relay.cut(isListener);
  await ended;
  t.equal(await response(worker), 1);
  t.equal(await response(await connectAs('listener')), 1, 'a new one passes');
  relay.cut();
  await t.rejects(response(worker));
  await eventually('none is left', () => relay.open() === 0);
  t.equal(relay.accepted, 3);
});

t.test('connections are refused, all or those of a kind', async (t) => {
  if (!requirePostgres(t)) return;
  const { relay, connectAs } = await startStage(t);
  const [listener, worker] = [await connectAs('listener'), await connectAs('worker')];
  await relay.refuse(isListener);
  await t.rejects(response(listener));
  await t.rejects(connectAs('listener'), /terminated/);
  t.equal(await response(worker), 1);
  await relay.refuse();
  await t.rejects(response(worker));
  await t.rejects(connectAs('worker'), { code: 'ECONNREFUSED' });
  await relay.restore();
  for (const name of ['listener', 'worker']) t.equal(await response(await connectAs(name)), 1);
});

t.test('connections are silent, all or those of a kind', async (t) => {
  if (!requirePostgres(t)) return;
  const { server, relay, connectAs } = await startStage(t);
  const [listener, worker] = [await connectAs('listener'), await connectAs('worker')];
  let notified = 0;
  for (const client of [listener, worker]) {
    client.on('notification', () => notified++);
    await client.query('LISTEN news');
  }
  relay.blackHole(isListener);
  await server.query(`NOTIFY news`);
  await t.rejects(connectAs('listener', shortMs), /timeout/);
  t.notOk(await isAnswered(listener));
  t.equal(await response(worker), 1);
  t.equal(notified, 1);
  relay.blackHole();
  t.notOk(await isAnswered(worker));
  await t.rejects(connectAs('worker', shortMs), /timeout/);
  await relay.restore();
  t.notOk(await isAnswered(listener), 'who was in the black hole does not come out');
  t.equal(await response(await connectAs('listener')), 1);
});

t.test('bytes of one kind of connection are late', async (t) => {
  if (!requirePostgres(t)) return;
  const { relay, connectAs } = await startStage(t);
  const [listener, worker] = [await connectAs('listener'), await connectAs('worker')];
  relay.delay(50, isListener);
  const since = performance.now();
  t.equal(await response(listener), 1);
  t.ok(performance.now() - since > 45);
  relay.delay(60_000, isListener);
  t.notOk(await isAnswered(listener));
  t.equal(await response(worker), 1);
  relay.delay(0);
  t.equal(await response(await connectAs('listener')), 1);
});

t.test('late bytes stay in order', async (t) => {
  const echo = createServer((socket) => socket.pipe(socket).on('error', () => {}));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  t.teardown(() => echo.close());
  const { port } = echo.address() as AddressInfo;
  const relay = await startTcpRelay(t, { port, url: `tcp://127.0.0.1:${port}` });
  t.equal(relay.url, `tcp://127.0.0.1:${relay.port}`);
  const client = connect({ port: relay.port, host: '127.0.0.1' });
  for (const [letter, milliseconds] of Object.entries({ a: 100, b: 30, c: 0 })) {
    relay.delay(milliseconds);
    client.write(letter);
    await sleep(10);
  }
  client.end('d');
  t.equal(await text(client), 'abcd', 'and so does the end');
});

t.test('new connections are led elsewhere', async (t) => {
  if (!requirePostgres(t)) return;
  const { server, relay, connectAs } = await startStage(t);
  const next = await startPostgres(t);
  const portOf = async (client: Client) => Number((await client.query('SHOW port')).rows[0].port);
  const client = await connectAs('worker');
  relay.retarget(next);
  t.equal(await portOf(client), server.port);
  t.equal(await portOf(await connectAs('worker')), next.port);
  await next.kill();
  await t.rejects(connectAs('worker'));
});
