import t from 'tap';
import { leastValues, render, requireHelm, theOnly } from './helm.ts';

const policed = 'helm/ci/gateway-observed-values.yaml';
const monitoring = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };

t.test('policies of the network', async (t) => {
  if (!requireHelm(t)) return;

  t.test('the pod of helm test may reach the public port that others may not', async (t) => {
    const manifests = render(policed);
    const { podSelector, ingress } = theOnly(manifests, 'NetworkPolicy', 'shop-postern').spec;
    const { labels } = theOnly(manifests, 'Pod').metadata;
    const [open, management] = ingress;
    t.equal(open.ports[0].port, 8080);
    const [given, test, ...others] = open.from;
    t.strictSame(given, { podSelector: { matchLabels: { app: 'web' } } });
    t.match(labels, test.podSelector.matchLabels);
    t.not(Object.keys(test.podSelector.matchLabels).length, 0, 'no selector of everything');
    t.strictSame(others, []);
    t.strictSame(management.from, [monitoring]);
    const [name, value] = Object.entries(podSelector.matchLabels)[0]!;
    t.not(labels[name], value, 'it is none of the pods that are protected');
  });

  t.test('another release’s test is let in nowhere', async (t) => {
    const { ingress } = theOnly(render(policed), 'NetworkPolicy', 'shop-postern').spec;
    const { labels } = theOnly(render(policed, { release: 'other' }), 'Pod').metadata;
    for (const [name, value] of Object.entries(ingress[0].from[1].podSelector.matchLabels))
      t.not(labels[name], value);
  });

  t.test('who may reach the service: Postern, and who else was named', async (t) => {
    const manifests = render(policed);
    const { spec } = theOnly(manifests, 'NetworkPolicy', 'shop-postern-upstream');
    t.strictSame(spec.podSelector.matchLabels, { app: 'orders' });
    t.strictSame(spec.ingress, [
      {
        from: [{ podSelector: theOnly(manifests, 'Deployment').spec.selector }],
        ports: [{ port: 9000, protocol: 'TCP' }],
      },
      { from: [monitoring], ports: [{ port: 9100 }] },
    ]);
  });

  t.test('switched off there is none, not before the service either', async (t) => {
    const upstreamPodLabels = { app: 'orders' };
    const policies = (enabled: boolean) =>
      render({ ...leastValues, networkPolicy: { enabled, upstreamPodLabels } })
        .filter(({ kind }) => kind === 'NetworkPolicy')
        .map(({ metadata }) => metadata.name)
        .sort();
    t.strictSame(policies(true), ['shop-postern', 'shop-postern-upstream']);
    t.strictSame(policies(false), []);
  });
});
