import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createApiClient } from '../support/clients/api-client.ts';
import { createSecretWatch } from '../support/gateway/secret-watch.ts';
import { apply, kubectl, requireNode } from './cluster/commands.ts';
import { endOf, endPod, signInSlowly } from './cluster/ending.ts';
import { createNamespace, podsOf } from './cluster/namespace.ts';
import { ordersService } from './cluster/orders.ts';
import { gatewayValues, install, openUp, password, sidecarValues } from './cluster/release.ts';
import { startStores } from './cluster/stores.ts';

const form = `username=admin&password=${encodeURIComponent(password)}`;

t.test('requests that had begun when a pod was told to end are brought to their end', async (t) => {
  if (!requireNode(t)) return;
  await t.test('behind a gateway', (t) => endWhileBusy(t, 'endings-gateway'));
  for (const native of [true, false])
    await t.test(`beside ${native ? 'a native sidecar' : 'an ordinary one'}`, (t) =>
      endWhileBusy(t, native ? 'endings-native' : 'endings-ordinary', native),
    );
});

async function endWhileBusy(t: Test, namespace: string, native?: boolean): Promise<void> {
  await createNamespace(t, namespace);
  const stores = await startStores(t, namespace, 'acme');
  await apply(namespace, ordersService());
  await kubectl('rollout', 'status', 'deploy/orders', '--namespace', namespace);
  const isGateway = native === undefined;
  const values = isGateway ? gatewayValues(stores) : sidecarValues(stores, native);
  const release = await install(namespace, { ...values, replicaCount: 1 });
  const { key } = await openUp(release);
  const [pod] = await podsOf(namespace, release.selector);
  const { name, uid } = pod.metadata;
  const api = createApiClient(8080, createSecretWatch(), pod.status.podIP);

  const slow = api.send({ path: '/api/orders?slow=12000', apiKey: key });
  // An ordinary sidecar is told to end at the same time, so that it can't wait for the service to have ended.
  const late = native === true ? endOf(uid, '/orders.mjs') : sleep(12_000);
  const signIn = signInSlowly(pod.status.podIP, form, late);
  await sleep(1000);
  const endings = await endPod(namespace, name);
  t.equal((await slow).status, 200, 'a slow request');
  t.equal(await signIn, 200, native === true ? 'a sign-in, though the service had ended' : 'a slow sign-in');
  for (const [container, { exitCode }] of endings) t.equal(exitCode, 0, `${container} has ended by itself`);
  t.ok(endings.has('postern'));
  if (native === true) t.ok(endings.get('orders')!.finishedAt <= endings.get('postern')!.finishedAt, 'last');
}
