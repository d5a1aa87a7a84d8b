import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import t from 'tap';
import type { WebSocket } from 'ws';
import { judgeElapsed } from '../support/elapsed.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import {
  closeCodeOf,
  openWebSocket,
  startWebSocketGateway,
  startWebSocketUpstream,
} from '../support/servers/web-sockets.ts';

const isLong = process.env.POSTERN_TEST_LONG !== undefined;
const live = '/api/store/live';

/** Sends a message and returns the reply. */
async function roundTrip(socket: WebSocket, message: Buffer): Promise<Buffer> {
  socket.send(message);
  const [response] = await once(socket, 'message');
  return response;
}

t.test('messages of any size pass both ways unchanged', async (t) => {
  const { port, key } = await startWebSocketGateway(t);
  const largest = isLong ? 16 * 1024 * 1024 : 1024 * 1024;
  for (const perMessageDeflate of [false, true]) {
    const socket = await openWebSocket(port, live, { headers: { 'X-API-Key': key }, perMessageDeflate });
    for (const size of [1, 2, 125, 126, 65_535, 65_536, 300_000, largest]) {
      const message = randomBytes(size);
      t.ok((await roundTrip(socket, message)).equals(message), `${size} bytes`);
    }
    socket.close();
  }
});

t.test('fragments, pings and texts pass as they are', async (t) => {
  const { port, key, sockets } = await startWebSocketGateway(t);
  const socket = await openWebSocket(port, live, { headers: { 'X-API-Key': key } });
  const upstream = sockets.accepted[0]!.socket;
  socket.send('frag', { fin: false });
  socket.ping('are you there');
  t.equal(String((await once(upstream, 'ping'))[0]), 'are you there');
  t.equal(String((await once(socket, 'pong'))[0]), 'are you there');
  const answered = once(socket, 'message');
  socket.send('mented', { fin: true });
  const [text, isBinary] = await answered;
  t.equal(String(text), 'fragmented');
  t.equal(isBinary, false);
  upstream.ping('and you');
  t.equal(String((await once(upstream, 'pong'))[0]), 'and you');
});

t.test('close codes and reasons pass both ways', async (t) => {
  const { port, key, sockets } = await startWebSocketGateway(t);
  for (const code of [1000, 1001, 1003, 1011, 3000, 4999]) {
    const socket = await openWebSocket(port, live, { headers: { 'X-API-Key': key } });
    socket.close(code, 'closed by the client');
    t.equal(await sockets.accepted.at(-1)!.closed, code);
    const other = await openWebSocket(port, live, { headers: { 'X-API-Key': key } });
    sockets.accepted.at(-1)!.socket.close(code, 'closed by the upstream');
    const [received, reason] = await once(other, 'close');
    t.equal(received, code);
    t.equal(String(reason), 'closed by the upstream');
  }
});

t.test('many sockets at once end within a second of their key', { timeout: 110_000 }, async (t) => {
  const many = isLong ? 1000 : 50;
  const sockets = await startWebSocketUpstream(t);
  const config = { upstreams: { app: { url: sockets.url } }, shutdown: { timeout: '50ms' } };
  const one = await startGatewayProcess(t, { config });
  const two = await startGatewayProcess(t, { config, folder: one.folder });
  const { username, password } = administrator;
  await one.api.activate(username, password, bootstrapToken);
  const { accessToken: bearer } = await one.api.signIn(username, password);
  const mint = () => one.api.mintKey(bearer, { label: 'x', scopes: ['store:read'] });
  const open = async (rawKey: string) => {
    const socket = await openWebSocket(one.port, live, { headers: { 'X-API-Key': rawKey } });
    return { socket, closed: closeCodeOf(socket) };
  };
  const spared = await open((await mint()).key);
  for (const [where, gateway] of Object.entries({ 'the same process': one, 'another process': two }))
    await t.test(`deleted through ${where}`, async (t) => {
      const { id, key } = await mint();
      const before = sockets.accepted.length;
      const opened = [];
      for (let i = 0; i < many; i++) opened.push(await open(key));
      for (const { socket } of opened) t.same(await roundTrip(socket, Buffer.from('x')), Buffer.from('x'));
      const deleted = await gateway.api.send({ method: 'DELETE', path: `/api/admin/api-keys/${id}`, bearer });
      const sinceMs = performance.now();
      t.equal(deleted.status, 204);
      const codes = await Promise.all(opened.map(({ closed }) => closed));
      const upstreamCodes = await Promise.all(sockets.accepted.slice(before).map(({ closed }) => closed));
      judgeElapsed(t, sinceMs, 1_000);
      t.same(new Set([...codes, ...upstreamCodes]), new Set([1008]), 'both sides got the code');
    });
  t.same(
    await roundTrip(spared.socket, Buffer.from('y')),
    Buffer.from('y'),
    'another key’s socket stays open',
  );
  spared.socket.terminate();
});
