import { once } from 'node:events';
import t from 'tap';
import { notRefused } from '../../src/runtime/engine.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { closeCodeOf, openWebSocket, startWebSocketUpstream } from '../support/servers/web-sockets.ts';

const listen = { engine: 'node' };

t.test('with listen.engine: node the gateway forwards, and warns of what it does not refuse', async (t) => {
  const gateway = await startForwarding(t, { listen });
  const warning = gateway.logLines().find(({ level }) => level === 'warn');
  t.match(warning, { msg: /listen\.engine is node/, not_refused: notRefused });

  const connection = await connectRaw(gateway.port);
  connection.write(gateway.raw('GET /api/store/1?a=b HTTP/1.1', ['X-Auth-Subject: evil', 'X-Kept: é']));
  t.equal((await connection.response()).status, 200);
  const body = 'x'.repeat(300_000);
  connection.write(
    gateway.raw(
      'POST /api/store/2 HTTP/1.1',
      ['Transfer-Encoding: chunked'],
      `493e0\r\n${body}\r\n0\r\n\r\n`,
    ),
  );
  t.equal((await connection.response()).status, 200, 'on the same connection');
  const [first, second] = gateway.upstream.seen.slice(-2);
  t.equal(`${first?.method} ${first?.target}`, 'GET /api/store/1?a=b');
  t.same(first?.values('x-kept'), ['é']);
  t.equal(first?.values('x-auth-subject').length, 1);
  t.notSame(first?.values('x-auth-subject'), ['evil']);
  t.ok(second?.body.equals(Buffer.from(body)));
  connection.write(gateway.raw('GET /api/store/%2e%2e/x HTTP/1.1'));
  t.match(await connection.response(), { status: 400, json: { code: 'bad_request' } });
  t.equal(await connection.closed, 'ended');
});

t.test('with listen.engine: node a WebSocket opens, and ends with its credential', async (t) => {
  const sockets = await startWebSocketUpstream(t);
  const gateway = await startForwarding(t, { listen, upstreams: { app: { url: sockets.url } } });
  const socket = await openWebSocket(gateway.port, '/api/store/live', {
    headers: { 'X-API-Key': gateway.key },
  });
  socket.send('there and back');
  t.equal(String((await once(socket, 'message'))[0]), 'there and back');
  const closed = closeCodeOf(socket);
  await gateway.api.send({
    method: 'DELETE',
    path: `/api/admin/api-keys/${gateway.keyId}`,
    bearer: gateway.bearer,
  });
  t.equal(await closed, 1008);
});
