import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { createHostBrowser, notes, preview, wiki } from '../support/pages/hosts.ts';
import { apply, get, kubectl, requireNode } from './cluster/commands.ts';
import { createNamespace } from './cluster/namespace.ts';
import { ordersService } from './cluster/orders.ts';
import { gatewayValues, install, openUp, password } from './cluster/release.ts';
import { startStores } from './cluster/stores.ts';
import { definitionsFolder } from './node/definitions.ts';

const base = 'https://acme.example.com';
const hosts = [wiki, notes, 'https://*.preview.acme.dev'];
const names = [base, ...hosts].map((origin) => origin.replace('https://', ''));
const config = {
  base_url: base,
  web: {},
  hosts,
  routes: [
    { prefix: '/api', upstream: 'orders' },
    ...names.slice(1).map((host) => ({ host, prefix: '/', upstream: 'orders', browser: true })),
  ],
};

t.test('one sign-in for many hosts, at several replicas', async (t) => {
  if (!requireNode(t)) return;
  await kubectl('apply', '--server-side', '--filename', definitionsFolder);
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  const namespace = 'hosts';
  await createNamespace(t, namespace);
  const stores = await startStores(t, namespace, 'acme');
  await apply(namespace, ordersService());
  await kubectl('rollout', 'status', 'deploy/orders', '--namespace', namespace);
  const outside = {
    ingress: {
      enabled: true,
      tlsSecrets: Object.fromEntries(names.map((name, index) => [name, `tls-${index}`])),
    },
    httpRoute: { enabled: true, parentRefs: [{ name: 'public', namespace: 'gateways' }] },
  };
  const release = await install(namespace, gatewayValues(stores, outside, config));

  const inNamespace = ['--namespace', namespace];
  const { items: ingresses } = await get('ingress', ...inNamespace);
  const [{ spec }] = ingresses;
  t.strictSame(
    spec.rules.map(({ host }: { host: string }) => host),
    names,
    'the ingress has every host',
  );
  t.strictSame(
    spec.tls
      .map(({ hosts, secretName }: { hosts: string[]; secretName: string }) => [...hosts, secretName])
      .sort(),
    names.map((name, index) => [name, `tls-${index}`]).sort(),
    'each with its certificate',
  );
  const { items: routes } = await get('httproute', ...inNamespace);
  t.strictSame(
    routes.flatMap((route: any) => route.spec.hostnames),
    names,
    'and so has the HTTPRoute',
  );

  await openUp(release);
  const browser = createHostBrowser(release);
  const person = { username: 'admin', password };
  t.match(await browser.signIn(`${wiki}/api/orders?page=1`, person), {
    status: 200,
    url: `${wiki}/api/orders?page=1`,
    json: { username: 'admin' },
  });
  // Each request reaches any of the replicas.
  for (const origin of [notes, preview, wiki, notes])
    t.match(await browser.open(`${origin}/api/orders`), { status: 200, url: `${origin}/api/orders` });
  const signedOut = await browser.send(`${notes}/postern/sign-out`, { form: {} });
  t.match(signedOut, { status: 303, headers: { location: '/postern/signed-out' } });
  for (const origin of [wiki, preview, wiki, preview])
    await eventually(`${origin} asks for a sign-in`, async () =>
      (await browser.open(`${origin}/api/orders`)).url.startsWith(`${base}/postern/sign-in?`),
    );
  t.match(await browser.send('https://other.example.com/orders'), { status: 404 });
  await release.uninstall();
});
