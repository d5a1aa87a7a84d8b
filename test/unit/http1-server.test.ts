import { connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import type { ServerExchange } from '../../src/http1/server/connection-options.ts';
import type { ServedConnection } from '../../src/http1/server/served-connection.ts';
import { Http1Server, type ServerOptions } from '../../src/http1/server/server.ts';
import { eventually } from '../support/eventually.ts';

type Served = ServedConnection<ServerExchange>;

t.test('timeouts are checked only while there are connections', async (t) => {
  let checks = 0;
  const served = { checkTime: () => checks++, announceClose() {}, closeIdle() {}, cut() {} };
  const times = { headerTimeoutMs: 40, bodyIdleTimeoutMs: 40, bodyJudgedAfterMs: 40, writeIdleTimeoutMs: 40 };
  const limits = {
    ...times,
    keepAliveTimeoutMs: 40,
    connections: 10,
    headerBytes: 1_024,
    requestsPerConnection: 0,
  };
  const settings = { limits, targets: {} };
  const options = { ...settings, tls: null, admits: () => true, onDropped() {} };
  const server = new Http1Server(
    options as unknown as ServerOptions<ServerExchange>,
    (_options, _shared, onConnection) => ({
      server: createServer((socket: Socket) =>
        onConnection(served as unknown as Served as never, socket.resume()),
      ),
      renewTls() {},
      apply() {},
    }),
  );
  t.teardown(() => server.drain(0));
  const { port } = await server.listen('127.0.0.1', 0);
  t.equal(server.isChecked, false, 'no connection has been accepted yet');
  for (let round = 0; round < 2; round++) {
    const before = checks;
    const client = connect(port, '127.0.0.1');
    await eventually('the connection is checked', () => server.isChecked && checks > before);
    server.apply(settings as unknown as ServerOptions<ServerExchange>);
    const applied = checks;
    await eventually('it is checked under other settings, too', () => checks > applied);
    client.destroy();
    await eventually('the checks have stopped', () => !server.isChecked);
    server.apply(settings as unknown as ServerOptions<ServerExchange>);
    t.equal(server.isChecked, false, 'other settings do not start them');
  }
});
