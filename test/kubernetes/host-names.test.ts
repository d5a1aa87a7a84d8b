import t from 'tap';
import { render, theOnly } from '../helm/helm.ts';
import { namesOfHosts } from '../helm/host-names.ts';
import { command, kubectl, requireNode } from './cluster/commands.ts';
import { createNamespace } from './cluster/namespace.ts';
import { definitionsFolder } from './node/definitions.ts';

t.test('the chart takes the names of hosts that the API server takes', async (t) => {
  if (!requireNode(t)) return;
  await kubectl('apply', '--server-side', '--filename', definitionsFolder);
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  const namespace = 'host-names';
  await createNamespace(t, namespace);
  const isTaken = (manifest: object): Promise<boolean> =>
    command(
      'kubectl',
      ['create', '--dry-run=server', '--namespace', namespace, '--filename', '-'],
      JSON.stringify(manifest),
    ).then(
      () => true,
      (error) => {
        t.match(error.message, ' is invalid: ');
        return false;
      },
    );
  const manifests = render('helm/ci/gateway-hosts-values.yaml');
  const ingress = theOnly(manifests, 'Ingress');
  const route = theOnly(manifests, 'HTTPRoute');
  for (const { name, inIngress, inRoute } of namesOfHosts) {
    const rules = [{ ...ingress.spec.rules[0], host: name }];
    t.equal(await isTaken({ ...ingress, spec: { rules } }), inIngress, `${name} in an Ingress`);
    const spec = { ...route.spec, hostnames: [name] };
    t.equal(await isTaken({ ...route, spec }), inRoute, `${name} in an HTTPRoute`);
  }
});
