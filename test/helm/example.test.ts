import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { renderExample } from './example.ts';
import { documentsIn, requireHelm, theOnly } from './helm.ts';
import { typeErrorsOf } from './type-check.ts';

t.test('the example of a service with a sidecar', async (t) => {
  if (!requireHelm(t)) return;

  t.test('its manifests are in step; UPDATE=1 writes them anew', async (t) => {
    const file = 'examples/kubernetes/rendered.yaml';
    const text = renderExample(t);
    if (process.env.UPDATE) writeFileSync(file, text);
    t.equal(readFileSync(file, 'utf8'), text);
  });

  t.test('every document has the type of its kind', async (t) => {
    t.strictSame(typeErrorsOf(documentsIn(renderExample(t))), []);
  });

  t.test('the one Service leads to Postern in the pod of the service', async (t) => {
    const manifests = documentsIn(renderExample(t));
    const { template } = theOnly(manifests, 'Deployment').spec;
    const { selector, ports } = theOnly(manifests, 'Service').spec;
    t.match(template.metadata.labels, selector);
    t.equal(ports[0].targetPort, template.spec.initContainers[0].ports[0].containerPort);
    t.match(theOnly(manifests, 'NetworkPolicy').spec.podSelector.matchLabels, selector);
  });

  t.test('the sidecar can be an ordinary container', async (t) => {
    const values = { postern: { sidecar: { native: false } } };
    const { spec } = theOnly(documentsIn(renderExample(t, values)), 'Deployment').spec.template;
    t.notOk(spec.initContainers);
    t.strictSame(
      spec.containers.map(({ name }: any) => name),
      ['postern', 'notes'],
    );
  });

  t.test('values that can’t work are refused there too', async (t) => {
    const refused = (values: object) => () => renderExample(t, { postern: values });
    t.throws(refused({ replicaCount: 2 }), { message: /replicaCount is 2, but config\.stores\.records/ });
    t.throws(refused({ mode: 'gateway' }), {
      message: /is 127\.0\.0\.1, the pod itself, where a gateway has Postern alone/,
    });
    t.throws(refused({ nope: 1 }), { message: /Additional property nope/ });
  });
});
