import t from 'tap';
import { connectRaw, type RawConnection } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { scrape } from '../support/gateway/scrape.ts';

const request = 'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n';

t.test('connections beyond limits.connections are closed, counted and logged', async (t) => {
  const gateway = await startTestGateway(t, { config: { limits: { connections: 3 } } });
  const metric = async (name: string, labels = {}) =>
    (await scrape(gateway.managementPort)).value(name, labels);
  /** Whether a new client is served; it stays if so. */
  const all: RawConnection[] = [];
  const comesIn = async () => {
    const connection = await connectRaw(gateway.port);
    connection.write(request);
    const isServed = await connection.response().then(
      () => true,
      () => false,
    );
    if (isServed) all.push(connection);
    return isServed;
  };
  const crowd = async (count: number) => {
    const served: boolean[] = [];
    for (let i = 0; i < count; i++) served.push(await comesIn());
    return served;
  };

  t.equal(await metric('connections_max'), 3);
  t.strictSame(await crowd(5), [true, true, true, false, false]);
  t.equal(await metric('connections'), 3);
  t.equal(await metric('connections_refused_total', { reason: 'limit' }), 2);
  t.equal(await metric('connections_refused_total', { reason: 'address' }), 0);
  const linesOf = () => gateway.logLines().filter(({ msg }) => msg === 'client connections refused');
  await eventually('the line', () => linesOf().length > 0);
  t.match(linesOf(), [{ level: 'warn', count: 2, reasons: { connection_limit: 2 } }]);

  await gateway.reload({ limits: { connections: 4, connections_per_address: 4 } });
  t.equal(await metric('connections_max'), 4, 'a reload counts at once');
  t.strictSame(await crowd(2), [true, false]);
  await gateway.reload({ limits: { connections: 5, connections_per_address: 1 } });
  t.strictSame(await crowd(1), [false]);
  t.equal(await metric('connections_refused_total', { reason: 'address' }), 1);
  for (const connection of all) connection.reset();
  await eventually('all are gone', async () => (await metric('connections')) === 0);
  t.strictSame(await crowd(2), [true, false]);
  for (const connection of all) connection.reset();
});
