import t, { type Test } from 'tap';
import { connectRaw, type RawConnection } from '../support/clients/raw-client.ts';
import { judgeElapsed } from '../support/elapsed.ts';
import { eventually, type Forwarding, startForwarding } from '../support/gateway/forwarding.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { type RawUpstream, startRawUpstream } from '../support/servers/raw-upstream.ts';

/** An upstream with endless event streams, which never responds to uploads. */
const startStreams = (t: Parameters<typeof startForwarding>[0]): Promise<RawUpstream> =>
  startRawUpstream(t, ({ socket, text }) => {
    if (text.startsWith('GET'))
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n');
  });

/** Opens a stream with that credential line; resolves once its first event is here. */
async function openStream(gateway: { readonly port: number }, credential: string): Promise<RawConnection> {
  const connection = await connectRaw(gateway.port);
  connection.write(`GET /api/store/events HTTP/1.1\r\nHost: a\r\n${credential}\r\n\r\n`);
  await connection.received('hi');
  return connection;
}

/** Asserts that the connections are reset, at full size within a second. */
async function areReset(t: Test, ...connections: readonly RawConnection[]): Promise<void> {
  const sinceMs = performance.now();
  for (const connection of connections)
    t.equal(await connection.closed, 'reset', 'it does not end as if it were whole');
  judgeElapsed(t, sinceMs, 1_000);
}

async function scene(t: Parameters<typeof startForwarding>[0]) {
  const upstream = await startStreams(t);
  const config = { upstreams: { app: { url: upstream.url } } };
  const gateway = await startForwarding(t, config);
  const other = await startTestGateway(t, { config, folder: gateway.folder });
  return { upstream, gateway, other };
}

const removeKey = (gateway: Forwarding, id: string) =>
  gateway.api.send({ method: 'DELETE', path: `/api/admin/api-keys/${id}`, bearer: gateway.bearer });

t.test('a stream ends within a second when its key is deleted, on every gateway', async (t) => {
  const { upstream, gateway, other } = await scene(t);
  const mine = await gateway.api.mintKey(gateway.bearer, { label: 'a', scopes: ['store:read'] });
  const line = `X-API-Key: ${mine.key}`;
  const streams = [
    await openStream(gateway, line),
    await openStream(gateway, line),
    await openStream(other, line),
  ];
  const spared = await openStream(other, `X-API-Key: ${gateway.key}`);
  t.equal((await removeKey(gateway, mine.id)).status, 204);
  await areReset(t, ...streams);
  await eventually(() => upstream.open === 1);
  const after = await Promise.race([
    spared.closed,
    new Promise((resolve) => setTimeout(resolve, 600, 'open')),
  ]);
  t.equal(after, 'open', 'another key’s stream stays open');
  spared.reset();
  await eventually(
    () => gateway.logLines().filter((line) => line.outcome === 'credential_ended').length === 2,
  );
});

t.test('an upload ends with its credential too', async (t) => {
  const { upstream, gateway } = await scene(t);
  const connection = await connectRaw(gateway.port);
  connection.write(gateway.raw('PUT /api/store/x HTTP/1.1', ['Content-Length: 9'], 'some'));
  await eventually(() => upstream.received.endsWith('some'));
  await removeKey(gateway, gateway.keyId);
  await areReset(t, connection);
  await eventually(() => upstream.open === 0);
});

t.test('streams end when the session signs out, here and elsewhere', async (t) => {
  const { upstream, gateway, other } = await scene(t);
  const line = `Authorization: Bearer ${gateway.bearer}`;
  const streams = [await openStream(gateway, line), await openStream(other, line)];
  t.equal((await gateway.api.send({ path: '/api/logout', bearer: gateway.bearer })).status, 200);
  await areReset(t, ...streams);
  await eventually(() => upstream.open === 0);
});

t.test('a key’s own expiry ends its streams, an access token’s does not', async (t) => {
  const { gateway } = await scene(t);
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const mine = await gateway.api.mintKey(gateway.bearer, { label: 'a', scopes: ['store:read'], expires });
  const byKey = await openStream(gateway, `X-API-Key: ${mine.key}`);
  const bySession = await openStream(gateway, `Authorization: Bearer ${gateway.bearer}`);
  gateway.advance(3_600_001);
  await areReset(t, byKey);
  const after = await Promise.race([
    bySession.closed,
    new Promise((resolve) => setTimeout(resolve, 600, 'open')),
  ]);
  t.equal(after, 'open', 'the token is an hour old, its session lives');
  bySession.reset();
});

t.test('a stream opened without a credential is not ended by a revocation', async (t) => {
  const { gateway } = await scene(t);
  const connection = await connectRaw(gateway.port);
  connection.write('GET /api/open/events HTTP/1.1\r\nHost: a\r\n\r\n');
  await connection.received('hi');
  await gateway.api.send({ path: '/api/logout', bearer: gateway.bearer });
  const after = await Promise.race([
    connection.closed,
    new Promise((resolve) => setTimeout(resolve, 600, 'open')),
  ]);
  t.equal(after, 'open');
  connection.reset();
});
