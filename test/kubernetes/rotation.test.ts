import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { apply, kubectl, requireNode } from './cluster/commands.ts';
import { startLoad } from './cluster/load.ts';
import { createNamespace, objectsLeftIn } from './cluster/namespace.ts';
import { ordersService } from './cluster/orders.ts';
import { gatewayValues, install, openUp, password } from './cluster/release.ts';
import { redisPassword, redisUser, startStores, storeSecret } from './cluster/stores.ts';

t.test('the password of Redis is rotated while clients go on', async (t) => {
  if (!requireNode(t)) return;
  await createNamespace(t, 'rotation');
  await apply('rotation', ordersService());
  await kubectl('rollout', 'status', 'deploy/orders', '--namespace=rotation');
  await rotatePassword(t);
});

async function rotatePassword(t: Test): Promise<void> {
  const stores = await startStores(t, 'rotation', 'acme');
  const values = gatewayValues(stores);
  const release = await install('rotation', values);
  const { key, accessToken } = await openUp(release);
  const load = startLoad({ address: release.address, apiKey: key, clients: 1, pauseMs: 40 });

  await stores.redis.command('ACL', 'SETUSER', redisUser, '>rotated');
  await apply('rotation', [storeSecret('rotated')]);
  await release.upgrade({});
  await stores.redis.command('ACL', 'SETUSER', redisUser, `<${redisPassword}`);
  await stores.redis.command('CLIENT', 'KILL', 'USER', redisUser);
  await eventually('sign-in works', async () => {
    const form = { username: 'admin', password };
    const sent = { method: 'POST', path: '/api/login/access-token', form };
    return (await release.api.send(sent)).status === 200;
  });
  t.equal((await release.api.send({ path: '/api/orders', bearer: accessToken })).status, 200);
  await load.stop();
  for (const [kind, { sent, lost }] of Object.entries(load.kinds)) t.strictSame(lost, {}, `${kind}: ${sent}`);
  await release.uninstall();
  await kubectl('delete', 'deploy,service,secret,endpointslice', '--all', '--namespace=rotation');
  t.strictSame(await objectsLeftIn('rotation'), [], 'nothing is left of a release without files');
}
