import t from 'tap';
import { parse } from 'yaml';
import { leastValues, type Manifest, render, requireHelm, theOnly, valuesFiles } from './helm.ts';

function checksumsOf(values: object): Record<string, string> {
  return theOnly(render(values), 'Deployment').spec.template.metadata.annotations;
}

/** The pod of a rendered release. */
function podOf(manifests: readonly Manifest[]): any {
  return theOnly(manifests, 'Deployment').spec.template.spec;
}

function withConfig(config: object, values: object = {}): object {
  return { ...leastValues, ...values, config: { ...leastValues.config, ...config } };
}

const everything = 'helm/ci/gateway-production-values.yaml';

t.test('manifests of the chart', async (t) => {
  if (!requireHelm(t)) return;

  t.test('two releases in one namespace share nothing', async (t) => {
    const long = 'a-name-as-long-as-helm-lets-it-be-which-is-fifty-thr';
    const releases = ['a', 'a-postern', 'postern', 'a-postern-data', `${long}1`, `${long}2`];
    const names = releases.flatMap((release) =>
      render(everything, { release }).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    );
    t.equal(new Set(names).size, names.length);
    for (const name of names) t.ok(name.split(' ')[1]!.length <= 63, name);
    const selectors = releases.map((release) =>
      JSON.stringify(theOnly(render(everything, { release }), 'Deployment').spec.selector),
    );
    t.equal(new Set(selectors).size, releases.length);
  });

  t.test('pods roll when the configuration or a secret changes, and for nothing else', async (t) => {
    const secret = (value: string) => ({ secrets: { bootstrapToken: { value } } });
    const before = checksumsOf(withConfig({}, secret('a token that is long enough')));
    t.strictSame(
      checksumsOf(withConfig({}, { ...secret('a token that is long enough'), podLabels: { a: 'b' } })),
      before,
    );
    const config = checksumsOf(withConfig({ tenant: 'other' }, secret('a token that is long enough')));
    t.not(config['checksum/config'], before['checksum/config']);
    t.equal(config['checksum/secret'], before['checksum/secret']);
    const secrets = checksumsOf(withConfig({}, secret('another that is long enough')));
    t.equal(secrets['checksum/config'], before['checksum/config']);
    t.not(secrets['checksum/secret'], before['checksum/secret']);
    const named = (existingSecret: string) =>
      checksumsOf(withConfig({}, { secrets: { bootstrapToken: { existingSecret } } }));
    t.not(named('one')['checksum/secret'], named('two')['checksum/secret']);
  });

  t.test('no container may do more than it must', async (t) => {
    for (const file of valuesFiles) {
      const manifests = render(file);
      const { spec } = theOnly(manifests, 'Deployment').spec.template;
      t.match(spec, { automountServiceAccountToken: false, enableServiceLinks: false }, file);
      const postern = [...spec.containers, ...(spec.initContainers ?? [])].find(
        ({ name }: any) => name === 'postern',
      );
      t.match(postern.securityContext, {
        runAsNonRoot: true,
        runAsUser: 10001,
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
        t.equal(postern[probe].httpGet.port, 'management', `${probe} of ${file}`);
    }
  });

  t.test('no Service and no policy lets anybody past Postern', async (t) => {
    for (const file of valuesFiles) {
      const manifests = render(file);
      const { spec } = theOnly(manifests, 'Deployment').spec.template;
      const postern = [...spec.containers, ...(spec.initContainers ?? [])].find(
        ({ name }: any) => name === 'postern',
      );
      const ports = postern.ports.map(({ containerPort }: any) => containerPort);
      for (const { kind, metadata, spec } of manifests) {
        if (kind === 'Service')
          for (const { targetPort, port } of spec.ports)
            t.ok(ports.includes(targetPort ?? port), `${file} ${metadata.name}`);
        if (kind === 'NetworkPolicy' && !metadata.name.endsWith('-upstream'))
          for (const rule of spec.ingress)
            for (const { port } of rule.ports) t.ok(ports.includes(port), `${file} ${metadata.name}`);
      }
    }
  });

  t.test('secrets are files, whose names stand in the configuration', async (t) => {
    const manifests = render(everything);
    const config = parse(theOnly(manifests, 'ConfigMap').data['postern.yaml']);
    t.match(config.stores, {
      records_password: { file: '/run/secrets/postern/records-password' },
      sessions_password: { file: '/run/secrets/postern/sessions-password' },
      sessions_sentinel_password: { file: '/run/secrets/postern/sessions-sentinel-password' },
    });
    const { sources } = podOf(manifests).volumes.find(
      ({ name }: any) => name === 'postern-secrets',
    ).projected;
    t.strictSame(
      sources.map(({ secret }: any) => [secret.name, secret.items[0].key, secret.items[0].path]),
      [
        ['acme-bootstrap', 'bootstrap-token', 'bootstrap-token'],
        ['acme-stores', 'postgres', 'records-password'],
        ['acme-stores', 'redis', 'sessions-password'],
        ['acme-stores', 'sentinel', 'sessions-sentinel-password'],
      ],
    );
    t.notOk(
      manifests.some(({ kind }) => kind === 'Secret'),
      'the chart writes none',
    );
  });

  t.test('an image by its digest', async (t) => {
    const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
    t.equal(podOf(render(everything)).containers[0].image, `registry.example.com/postern:0.1.0@${digest}`);
  });

  t.test('a sidecar is native or ordinary, and its service goes on for a moment', async (t) => {
    const native = podOf(render('helm/ci/sidecar-values.yaml'));
    t.strictSame(
      native.initContainers.map(({ name }: any) => name),
      ['migrate', 'postern'],
    );
    t.equal(native.initContainers[1].restartPolicy, 'Always');
    t.strictSame(native.containers[0].lifecycle, { preStop: { sleep: { seconds: 6 } } });
    t.equal(native.terminationGracePeriodSeconds, 6 + 10 + 5 + 25 + 5);
    const ordinary = podOf(render('helm/ci/sidecar-ordinary-values.yaml'));
    t.strictSame(
      ordinary.containers.map(({ name }: any) => name),
      ['postern', 'orders'],
    );
    t.strictSame(
      ordinary.containers[1].lifecycle,
      { preStop: { exec: { command: ['/bin/drain'] } } },
      'its own',
    );
  });

  t.test('a file is held by one pod at a time, a server by as many as there are', async (t) => {
    t.equal(theOnly(render(leastValues), 'Deployment').spec.strategy.type, 'Recreate');
    t.strictSame(theOnly(render(everything), 'Deployment').spec.strategy, {
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
    });
    t.notOk(render(everything).some(({ kind }) => kind === 'PersistentVolumeClaim'));
  });
});
