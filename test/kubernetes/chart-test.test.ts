import t from 'tap';
import { apply, helm, kubectl, requireNode } from './cluster/commands.ts';
import { createNamespace, objectsIn } from './cluster/namespace.ts';
import { ordersService } from './cluster/orders.ts';
import { gatewayValues, install } from './cluster/release.ts';
import { startStores } from './cluster/stores.ts';

t.test('helm test leaves nothing behind, whether it passes or fails', async (t) => {
  if (!requireNode(t)) return;
  const namespace = 'chart-test';
  const to = ['--namespace', namespace];
  await createNamespace(t, namespace);
  const stores = await startStores(t, namespace, 'acme');
  await apply(namespace, ordersService());
  const { workload } = await install(namespace, gatewayValues(stores, { replicaCount: 1 }));
  const test = () => helm('test', 'acme', '--timeout=90s', ...to);
  const testPods = async () => (await objectsIn(namespace)).filter((name) => /^pod\/.*-test/.test(name));

  t.match((await test()).stdout, /Phase:\s+Succeeded/);
  t.strictSame(await testPods(), []);

  await kubectl('scale', workload, '--replicas=0', ...to);
  await kubectl(
    'wait',
    '--for=delete',
    'pod',
    '-l',
    'postern/instance=acme-postern',
    '--timeout=120s',
    ...to,
  );
  await t.rejects(test(), 'nothing serves');
  t.strictSame(await testPods(), []);

  await kubectl('scale', workload, '--replicas=1', ...to);
  await kubectl('rollout', 'status', workload, ...to, '--timeout=120s');
  t.match((await test()).stdout, /Phase:\s+Succeeded/, 'it can be run again');
});
