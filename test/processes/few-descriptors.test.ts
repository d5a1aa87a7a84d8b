import t, { type Test } from 'tap';
import type { RawConnection } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import {
  type NarrowGateway,
  startHoldingUpstream,
  startNarrowGateway,
  tally,
} from '../support/gateway/few-descriptors.ts';
import { administrator } from '../support/gateway/gateway.ts';

const descriptors = 256;
/** More clients than descriptors. */
const clients = 400;

async function readyStatus({ managementPort }: NarrowGateway): Promise<number> {
  const { status } = await fetch(`http://127.0.0.1:${managementPort}/readyz`, {
    headers: { connection: 'close' },
  });
  return status;
}

/** Closes them, and waits until the gateway has noticed. */
async function leave(gateway: NarrowGateway, connections: readonly RawConnection[]): Promise<void> {
  for (const connection of connections) connection.reset();
  await eventually('they have left', async () => (await gateway.metric('connections')) === 0);
}

/** A sign-in on a connection there is, as no new one may be open to it. */
function signIn(connection: RawConnection, { username, password }: typeof administrator) {
  const form = new URLSearchParams({ username, password }).toString();
  connection.write(
    [
      'POST /api/login/access-token HTTP/1.1',
      'Host: acme.example.com',
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${form.length}`,
      '',
      form,
    ].join('\r\n'),
  );
  return connection.response();
}

async function stillWorks(t: Test, gateway: NarrowGateway, [inside]: readonly RawConnection[]) {
  t.equal(await readyStatus(gateway), 200, '/readyz');
  t.equal(
    (await gateway.ask(inside!, '/api/store/x')).status,
    200,
    'a key, and a connection to the upstream',
  );
  t.equal((await signIn(inside!, administrator)).status, 200, 'a sign-in');
}

t.test('clients that take all connections leave probes, stores and upstreams theirs', async (t) => {
  const upstream = await startHoldingUpstream(t);
  const gateway = await startNarrowGateway(t, descriptors, { upstreams: { app: { url: upstream.url } } });
  const most = await gateway.metric('connections_max');
  t.match(
    gateway.lines('file descriptor limit too low for limits.connections: fewer connections are accepted'),
    [{ level: 'warn', descriptor_limit: descriptors, descriptors_needed: Number, connections_allowed: most }],
  );
  t.ok(most > descriptors / 4, `${most} clients`);

  const inside = await gateway.crowd(clients);
  t.equal(inside.length, most);
  await stillWorks(t, gateway, inside);
  const refused = clients - most;
  t.equal(await gateway.metric('connections_refused_total', { reason: 'descriptors' }), refused);
  await eventually('the line', () => gateway.lines('client connections refused').length > 0);
  t.match(gateway.lines('client connections refused'), [
    { level: 'warn', count: refused, reasons: { descriptor_limit: refused } },
  ]);

  const [idle, ...busy] = inside;
  const responses = busy.map((connection) => gateway.ask(connection, '/api/store/held'));
  await eventually('a request of each is at the upstream', () => upstream.held === busy.length);
  await stillWorks(t, gateway, [idle!]);
  upstream.release();
  t.strictSame(tally(await Promise.all(responses)), { 200: busy.length });
  t.equal(await gateway.metric('descriptors_exhausted_seconds_total'), 0);

  await leave(gateway, inside);
  const again = await gateway.crowd(10);
  t.equal(again.length, 10, 'afterwards new clients come in');
  await stillWorks(t, gateway, again);
});

t.test('free connections of one upstream make room for those of another', async (t) => {
  const names = ['a', 'b', 'c', 'd'];
  const upstreams: Record<string, { url: string }> = {};
  for (const name of names) upstreams[name] = await startHoldingUpstream(t);
  const gateway = await startNarrowGateway(t, descriptors, {
    upstreams: Object.fromEntries(names.map((name) => [name, { url: upstreams[name]!.url }])),
    routes: names.map((name) => ({ prefix: `/${name}`, upstream: name, public: true })),
  });
  const inside = await gateway.crowd(clients);
  for (const name of names) {
    const responses = await Promise.all(inside.map((connection) => gateway.ask(connection, `/${name}/x`)));
    t.strictSame(tally(responses), { 200: inside.length }, name);
  }
  t.equal(await readyStatus(gateway), 200);
  t.equal(await gateway.metric('descriptors_exhausted_seconds_total'), 0);
  await leave(gateway, inside);
});

/** Lines that ask for a WebSocket. */
const upgrade = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

t.test(
  'every client that is connected may switch to a WebSocket, one after another or all at once',
  async (t) => {
    const upstream = await startHoldingUpstream(t);
    const gateway = await startNarrowGateway(t, descriptors, {
      upstreams: { app: { url: upstream.url, max_connections: 4 } },
    });
    const most = await gateway.metric('connections_max');
    const inside = await gateway.crowd(clients);
    t.equal(inside.length, most);
    const responses = await Promise.all(
      inside.map((connection) => gateway.ask(connection, '/api/store/ws', upgrade)),
    );
    t.strictSame(tally(responses), { 101: most });
    t.equal(await gateway.metric('upstream_connections', { state: 'upgraded' }), most);
    t.equal(await readyStatus(gateway), 200);
    t.equal(await gateway.metric('descriptors_exhausted_seconds_total'), 0);
    await leave(gateway, inside);

    const again = await gateway.crowd(10);
    t.equal(again.length, 10, 'afterwards new clients come in');
    for (const connection of again)
      t.equal((await gateway.ask(connection, '/api/store/ws', upgrade)).status, 101);
    t.equal(await gateway.metric('descriptors_exhausted_seconds_total'), 0);
    await leave(gateway, again);
  },
);
