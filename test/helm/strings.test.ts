import t from 'tap';
import { leastValues, type Manifest, render, requireHelm, theOnly } from './helm.ts';

/** What YAML takes for a number, a comment, or further keys. */
const number = '456';
const keys = 's, optional: true';
const comment = '/ #x';

function podOf(manifests: readonly Manifest[]): any {
  return theOnly(manifests, 'Deployment').spec.template.spec;
}

function volumeIn(manifests: readonly Manifest[], name: string): any {
  return podOf(manifests).volumes.find((volume: any) => volume.name === name);
}

t.test('strings arrive as they were given', async (t) => {
  if (!requireHelm(t)) return;
  const rendered = (values: object) => render({ ...leastValues, ...values });

  t.test('a Secret and its key', async (t) => {
    const given = [number, keys].map((existingSecret) =>
      rendered({ secrets: { bootstrapToken: { existingSecret, key: '12' } } }),
    );
    t.strictSame(
      given.map((manifests) => volumeIn(manifests, 'postern-secrets').projected.sources),
      [number, keys].map((name) => [{ secret: { name, items: [{ key: '12', path: 'bootstrap-token' }] } }]),
    );
  });

  t.test('a ConfigMap, its key, a claim and the Secret of a certificate', async (t) => {
    const manifests = rendered({
      existingConfig: number,
      existingConfigKey: keys,
      persistence: { existingClaim: number },
      tls: { existingSecret: keys, clientCa: { existingSecret: number, key: keys } },
    });
    t.strictSame(volumeIn(manifests, 'postern-config').configMap, {
      name: number,
      items: [{ key: keys, path: 'postern.yaml' }],
    });
    t.equal(volumeIn(manifests, 'postern-data').persistentVolumeClaim.claimName, number);
    t.equal(volumeIn(manifests, 'postern-tls').secret.secretName, keys);
    const { secretName, items } = volumeIn(manifests, 'postern-client-ca').secret;
    t.strictSame({ secretName, items }, { secretName: number, items: [{ key: keys, path: 'ca.crt' }] });
  });

  t.test('an ingress', async (t) => {
    const hosts = [{ host: number, paths: [{ path: comment, pathType: comment }] }];
    const ingress = { enabled: true, className: '123', hosts };
    const { spec } = theOnly(rendered({ ingress }), 'Ingress');
    t.match(spec, { ingressClassName: '123', rules: [{ host: number }] });
    t.match(spec.rules[0].http.paths, [{ path: comment, pathType: comment }]);
  });

  t.test('an image, an account, sizes and a class', async (t) => {
    const manifests = rendered({
      image: { repository: comment, tag: number },
      serviceAccount: { name: number },
      tmpSizeLimit: number,
      persistence: { size: number, storageClass: number },
    });
    const pod = podOf(manifests);
    t.equal(pod.containers[0].image, `${comment}:${number}`);
    t.equal(theOnly(manifests, 'Pod').spec.containers[0].image, `${comment}:${number}`);
    t.equal(pod.serviceAccountName, number);
    t.equal(theOnly(manifests, 'ServiceAccount').metadata.name, number);
    t.equal(volumeIn(manifests, 'postern-tmp').emptyDir.sizeLimit, number);
    t.match(theOnly(manifests, 'PersistentVolumeClaim').spec, {
      storageClassName: number,
      resources: { requests: { storage: number } },
    });
  });

  t.test('intervals, labels and a release that is a number', async (t) => {
    const serviceMonitor = { enabled: true, interval: number, scrapeTimeout: '12' };
    const values = { ...leastValues, metrics: { serviceMonitor }, podLabels: { shard: number } };
    const manifests = render(values, { release: '123' });
    t.match(theOnly(manifests, 'ServiceMonitor').spec.endpoints, [{ interval: number, scrapeTimeout: '12' }]);
    const { labels } = theOnly(manifests, 'Deployment').spec.template.metadata;
    t.match(labels, { shard: number, 'app.kubernetes.io/instance': '123' });
  });
});
