import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { documentsIn } from '../helm/helm.ts';
import { createApiClient } from '../support/clients/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { createSecretWatch } from '../support/gateway/secret-watch.ts';
import { apply, get, kubectl, requireNode } from './cluster/commands.ts';
import { startIngress } from './cluster/ingress.ts';
import { addressOf, createNamespace, objectsLeftIn } from './cluster/namespace.ts';
import { ordersService } from './cluster/orders.ts';
import { readPage } from './cluster/page.ts';
import { createShell, type Shell } from './cluster/shell.ts';

const page = readPage('docs/kubernetes.md');
const password = 'correct horse battery staple';

t.test('docs/kubernetes.md, command by command', async (t) => {
  if (!requireNode(t)) return;
  await t.test('from zero to a protected service, and back', protectService);
  await t.test('as a sidecar', protectBySidecar);
  await t.test('in the chart of the service', protectInOwnChart);
  await t.test('deciding for another proxy', decideOnly);
  // There is no registry to push to.
  t.strictSame(
    page.unused('sh').filter((text) => !/^docker (?:build|push)/m.test(text)),
    [],
    'every command was run',
  );
});

async function protectService(t: Test): Promise<void> {
  await createNamespace(t, 'walk');
  const shell = await createShell(t, 'walk');
  shell.write('acme.yaml', page.block('yaml', '# acme.yaml'));
  await apply('walk', ordersService());
  await kubectl('rollout', 'status', 'deploy/orders', '--namespace=walk');

  const [install = '', ...rest] = page.block('sh', 'helm install acme').split(/(?=^helm test)/m);
  await shell.run(install);
  const address = await addressOf('walk', 'acme-postern');
  await startIngress(t, shell.folder, 'acme.example.com', address);
  const { stdout } = await shell.run(rest.join(''));
  t.match(stdout, /Phase:\s+Succeeded/, 'the test of the chart has passed');
  const api = createApiClient(80, createSecretWatch(), address);
  const { accessToken } = await api.signIn('admin', password);
  const { id, key } = await api.mintKey(accessToken, { label: 'a key', scopes: ['orders:read'] });
  t.match((await api.send({ path: '/api/orders/1', apiKey: key })).json, {
    username: 'admin',
    tenant: 'acme',
  });

  const pods = await get('pods', '--namespace=walk', '--selector=app=orders');
  const service = `SERVICE=${pods.items[0].status.podIP}`;
  const bypass = page.block('sh', 'kubectl run bypass');
  await findNoBypass(
    t,
    shell,
    bypass.replace(/^SERVICE=\S+/m, service).replace('127.0.0.1:9000', 'orders:9000'),
  );

  await shell.run(page.block('sh', 'postern backup'));
  await api.send({ method: 'DELETE', path: `/api/admin/api-keys/${id}`, bearer: accessToken });
  t.equal((await api.send({ path: '/api/orders/1', apiKey: key })).status, 401, 'deleted after the backup');
  await shell.run(page.block('sh', 'kubectl run restore'));
  await kubectl('rollout', 'status', 'deploy/acme-postern', '--namespace=walk');
  const restored = () => api.send({ path: '/api/orders/1', apiKey: key });
  await eventually('the key is back', async () => (await restored()).status === 200);

  const [, upgrade = ''] = /run `(helm upgrade [^`]*)`/.exec(page.text) ?? [];
  await shell.run(`${upgrade} --wait`);
  t.equal((await restored()).status, 200, 'after an upgrade');
  await shell.run(page.block('sh', 'kubectl create secret generic acme-records'));
  await kubectl('rollout', 'status', 'deploy/acme-postern', '--namespace=walk');
  await eventually('it serves with encrypted keys', async () => (await restored()).status === 200);
  await shell.run('kubectl delete secret acme-records');
  await shell.run(page.block('sh', 'kubectl create secret generic acme --from'));
  await shell.run('kubectl delete secret acme; kubectl delete deploy,service orders; helm uninstall acme');
  t.strictSame(await objectsLeftIn('walk'), ['persistentvolumeclaim/acme-postern-data'], 'the volume stays');
}

async function protectBySidecar(t: Test): Promise<void> {
  await createNamespace(t, 'walk-sidecar');
  const shell = await createShell(t, 'walk-sidecar');
  const [image = ''] = /^image:\n(?: .*\n)+/m.exec(page.block('yaml', '# acme.yaml'))!;
  const sidecar = page.block('yaml', 'env: [{ name: BIND');
  shell.write('acme.yaml', `${image}${sidecar}`);
  await shell.run('helm install acme helm/ --values acme.yaml --wait && helm test acme');
  await findNoBypass(t, shell, page.block('sh', 'kubectl run bypass'));

  // What that block says of assertions, on top of the whole container.
  const { config, secrets } = parse(page.block('yaml', 'existingSecret: orders-assertion'));
  shell.write('proof.yaml', JSON.stringify({ config, secrets }));
  await shell.run(page.block('sh', 'orders-assertion'));
  await shell.run('helm upgrade acme helm/ --values acme.yaml --values proof.yaml --wait && helm test acme');
}

async function decideOnly(t: Test): Promise<void> {
  await createNamespace(t, 'walk-decisions');
  const shell = await createShell(t, 'walk-decisions');
  const [image = ''] = /^image:\n(?: .*\n)+/m.exec(page.block('yaml', '# acme.yaml'))!;
  const values = page.block('yaml', 'forward_auth:');
  const ask = page.block('sh', 'forward-auth config');
  // Of the proxies that the page names: its values are for one, its command is for another.
  shell.write('acme.yaml', `${image}${values.replace('ingress_nginx', 'nginx')}`);
  await shell.run('helm install acme helm/ --values acme.yaml --wait');
  const { stdout } = await shell.run(ask);
  t.match(stdout, /auth_request/);
  t.match(stdout, 'acme-postern.shop.svc:8081');
}

/** The two paths that have to be there are, and the third is not. */
async function findNoBypass(t: Test, shell: Shell, script: string): Promise<void> {
  // Of the three checks the last is meant to fail.
  const { stdout } = await shell.run(script.replace(/(OPEN: anyone.*)$/m, '$1 || true'));
  t.match(stdout, 'Postern is reached');
  t.match(stdout, 'Postern reaches the service');
  t.notMatch(stdout, 'OPEN');
}

async function protectInOwnChart(t: Test): Promise<void> {
  await createNamespace(t, 'walk-notes');
  const shell = await createShell(t, 'walk-notes');
  const { stdout } = await shell.run(page.block('sh', 'helm template notes'));
  // What the first of the two commands says is no YAML; and the pod of `helm test` is for helm.
  const manifests = documentsIn(stdout.slice(stdout.indexOf('\n---\n')));
  await apply(
    'walk-notes',
    manifests.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === undefined),
  );
  await kubectl('rollout', 'status', 'deploy/notes', '--namespace=walk-notes', '--timeout=120s');
  const bypass = page.block('sh', 'kubectl run bypass');
  const named = bypass
    .replace('instance=acme-postern', 'instance=notes-postern')
    .replace('deploy/acme-postern', 'deploy/notes');
  await findNoBypass(t, shell, named);
}
