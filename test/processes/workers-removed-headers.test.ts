import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';

t.test('removed headers have one line for all workers together', async (t) => {
  const routes = [{ prefix: '/api', upstream: 'app', public: true }];
  const gateway = await startGatewayProcess(t, { config: { workers: 2, routes } });
  // Each on a connection of its own, which the system gives to either worker.
  const send = async () => {
    const connection = await connectRaw(gateway.port);
    connection.write('GET /api/x HTTP/1.1\r\nHost: a\r\nX-Auth-Token: v\r\nConnection: close\r\n\r\n');
    const { status } = await connection.response();
    connection.reset();
    return status;
  };
  const lines = () => gateway.logLines().filter(({ msg }) => msg === 'headers of clients removed');
  for (const status of await Promise.all(Array.from({ length: 40 }, send))) t.equal(status, 200);
  await eventually('the line', () => lines().length > 0);
  for (const status of await Promise.all(Array.from({ length: 40 }, send))) t.equal(status, 200);
  t.equal(await gateway.stop(), 0);
  t.match(lines(), [{ level: 'info', header: 'X-Auth-', route: '/api' }]);
  t.equal(lines().length, 1);
});
