import { type AddressInfo, connect, createServer } from 'node:net';
import t from 'tap';
import { MetricsRegistry } from '../../src/metrics/registry.ts';
import { CountReports } from '../../src/workers/count-reports.ts';
import { eventually } from '../support/eventually.ts';

t.test('changed counts are reported, and more often while clients are connected', async (t) => {
  const registry = new MetricsRegistry();
  const counts = registry.counts('reason', 'tests_total', 'Tests.', ['a']);
  const reported: number[] = [];
  const reports = new CountReports(registry, ([metric]) => reported.push(metric!.samples[0]!.value));
  reports.start();
  await eventually('the first counts are reported', () => reported.at(-1) === 0);
  t.equal(reports.isBusy, false, 'nothing is connected');
  counts.a = 1;
  await eventually('a change without connections is reported', () => reported.at(-1) === 1);
  const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await eventually('it listens', () => server.listening);
  for (const count of [2, 3]) {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await eventually('it is busy', () => reports.isBusy);
    counts.a = count;
    await eventually('the change is reported', () => reported.at(-1) === count);
    t.equal(reports.isBusy, true, 'as long as a client is connected');
    client.destroy();
    await eventually('it is idle again', () => !reports.isBusy);
  }
  t.strictSame(reported, [0, 1, 2, 3], 'each once');
});
