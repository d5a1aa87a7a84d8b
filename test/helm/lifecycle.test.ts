import t from 'tap';
import { render, requireHelm, theOnly, valuesFiles } from './helm.ts';

function podOf(values: string | object): any {
  return theOnly(render(values), 'Deployment').spec.template.spec;
}

/** The container of Postern, be it native or ordinary. */
function posternIn({ initContainers = [], containers }: any): any {
  return [...initContainers, ...containers].find(({ name }: any) => name === 'postern');
}

const upstream = (url: string) => ({
  image: { repository: 'registry.example.com/postern' },
  config: {
    tenant: 'acme',
    base_url: 'https://acme.example.com',
    management: { port: 9191 },
    upstreams: { app: { url } },
    routes: [{ prefix: '/api', upstream: 'app' }],
  },
});
const gateway = upstream('http://orders:9000');
const sidecar = (native: boolean) => ({
  ...upstream('http://127.0.0.1:9000'),
  mode: 'sidecar',
  sidecar: { native, containers: [{ name: 'orders', image: 'registry.example.com/orders:1' }] },
});

t.test('the kubelet ends Postern with its pod', async (t) => {
  if (!requireHelm(t)) return;

  t.test('a native sidecar, which is signalled last, starts to drain by a hook', async (t) => {
    const { preStop } = posternIn(podOf(sidecar(true))).lifecycle;
    t.strictSame(preStop.exec.command.slice(0, 2), ['node', '-e']);
    t.match(preStop.exec.command[2], /^process\.kill\(1\);$/m);
    t.match(preStop.exec.command[2], /connect\(9191\)/, 'and waits on the management port');
  });

  t.test('whoever is signalled at once has none', async (t) => {
    t.notOk(posternIn(podOf(sidecar(false))).lifecycle);
    t.notOk(posternIn(podOf(gateway)).lifecycle);
  });

  t.test('`lifecycle` is what there is, in every mode', async (t) => {
    const lifecycle = { preStop: { sleep: { seconds: 3 } } };
    for (const values of [gateway, sidecar(true), sidecar(false)])
      t.strictSame(posternIn(podOf({ ...values, lifecycle })).lifecycle, lifecycle);
  });

  t.test(
    'the services of the values files, out of the kubelet’s reach, are asked by a command',
    async (t) => {
      for (const file of valuesFiles.filter((file) => file.includes('/sidecar')))
        for (const { name, readinessProbe } of podOf(file).containers)
          if (name !== 'postern') t.ok(readinessProbe?.exec, `${file}: ${name}`);
    },
  );
});
