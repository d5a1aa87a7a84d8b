import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { leastValues, type Manifest, render, requireHelm, theOnly, valuesFiles } from './helm.ts';

/** The pod of a rendered release. */
function podOf(manifests: readonly Manifest[]): any {
  return theOnly(manifests, 'Deployment').spec.template.spec;
}

/** What a pod mounts of what the release, and not its owner, has made: kinds with names. */
function mountsOf({ volumes }: any): string[] {
  const names = volumes.flatMap(({ configMap, persistentVolumeClaim, projected }: any) => [
    configMap && `ConfigMap ${configMap.name}`,
    persistentVolumeClaim && `PersistentVolumeClaim ${persistentVolumeClaim.claimName}`,
    ...(projected?.sources ?? []).map(({ secret }: any) => `Secret ${secret.name}`),
  ]);
  return [...new Set<string>(names)].filter((name) => name && !/^Secret acme-/.test(name));
}

const everything = 'helm/ci/gateway-production-values.yaml';
const ownVolumeAndSecrets = 'helm/ci/gateway-observed-values.yaml';

t.test('manifests of the chart', async (t) => {
  if (!requireHelm(t)) return;

  t.test('two releases in one namespace share nothing', async (t) => {
    const long = 'a-name-as-long-as-helm-lets-it-be-which-is-fifty-thr';
    const releases = ['a', 'a-postern', 'postern', 'a-postern-data', `${long}1`, `${long}2`];
    for (const file of [everything, ownVolumeAndSecrets]) {
      const rendered = releases.map((release) => render(file, { release }));
      const names = rendered.flat().map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      t.equal(new Set(names).size, names.length, file);
      for (const name of names) t.ok(name.split(' ')[1]!.length <= 63, name);
      const selectors = rendered.map((manifests) =>
        JSON.stringify(theOnly(manifests, 'Deployment').spec.selector),
      );
      t.equal(new Set(selectors).size, releases.length, file);
      const mounted = rendered.flatMap((manifests) => mountsOf(podOf(manifests)));
      t.equal(new Set(mounted).size, mounted.length, `${file} mounts nothing twice`);
      for (const name of mounted) t.ok(names.includes(name), name);
    }
    const kinds = new Set(render(ownVolumeAndSecrets).map(({ kind }) => kind));
    t.ok(kinds.has('PersistentVolumeClaim') && kinds.has('Secret'), 'there is something to share');
  });

  t.test(
    'the secret of an assertion is in both containers of a sidecar’s pod, and no other is',
    async (t) => {
      const values = parse(readFileSync('helm/ci/sidecar-assertion-values.yaml', 'utf8'));
      const { secrets } = values;
      const pod = podOf(
        render({ ...values, secrets: { ...secrets, bootstrapToken: { existingSecret: 'first' } } }),
      );
      const [postern] = pod.initContainers.slice(-1);
      const [service] = pod.containers;
      const folders = (container: any) =>
        container.volumeMounts
          .filter(({ name }: any) => /secrets|assertions/.test(name))
          .map((mount: any) => mount);
      const shared = {
        name: 'postern-assertions',
        mountPath: '/run/secrets/postern-assertions',
        readOnly: true,
      };
      t.strictSame(folders(service), [shared]);
      t.strictSame(folders(postern), [
        shared,
        { name: 'postern-secrets', mountPath: '/run/secrets/postern', readOnly: true },
      ]);
      t.ok(
        service.volumeMounts.some(({ name }: any) => name === 'scratch'),
        'beside its own',
      );
      const { projected } = pod.volumes.find(({ name }: any) => name === shared.name);
      t.strictSame(projected.sources, [
        { secret: { name: 'orders-assertion', items: [{ key: 'assertion-secret', path: 'assertion-app' }] } },
      ]);
    },
  );

  t.test('the console’s own host is routed as well, unless hosts are listed', async (t) => {
    const web = 'helm/ci/gateway-web-values.yaml';
    const hosts = ['acme.example.com', 'console.acme.example.com'];
    const manifests = render(web);
    t.strictSame(
      theOnly(manifests, 'Ingress').spec.rules.map(({ host }: any) => host),
      hosts,
    );
    t.strictSame(theOnly(manifests, 'HTTPRoute').spec.hostnames, hosts);
    const values = parse(readFileSync(web, 'utf8'));
    for (const others of [{ title: 'Orders' }, { console: {} }]) {
      const without = render({ ...values, config: { ...values.config, web: others } });
      t.strictSame(theOnly(without, 'HTTPRoute').spec.hostnames, hosts.slice(0, 1));
    }
  });

  t.test('given values arrive where they belong', async (t) => {
    const manifests = render('helm/ci/gateway-metadata-values.yaml');
    const { metadata, spec } = theOnly(manifests, 'Deployment');
    t.match(metadata, { labels: { tier: 'edge' }, annotations: { 'example.com/restart': 'yes' } });
    t.match(spec, { minReadySeconds: 5, progressDeadlineSeconds: 300 });
    const pod = spec.template.spec;
    t.equal(pod.schedulerName, 'packing');
    t.strictSame(pod.containers[0].lifecycle, { preStop: { sleep: { seconds: 1 } } });
    t.strictSame(pod.volumes.find(({ name }: any) => name === 'postern-tmp').emptyDir, { sizeLimit: '2Gi' });
    const ownData = theOnly(
      render({ ...leastValues, persistence: { enabled: false, size: '3Gi' } }),
      'Deployment',
    );
    t.strictSame(
      ownData.spec.template.spec.volumes.find(({ name }: any) => name === 'postern-data').emptyDir,
      { sizeLimit: '3Gi' },
      'files without a volume of their own are bounded, too',
    );
    t.equal(theOnly(manifests, 'PodDisruptionBudget').spec.unhealthyPodEvictionPolicy, 'AlwaysAllow');
    t.match(theOnly(manifests, 'Service').spec, {
      ipFamilyPolicy: 'PreferDualStack',
      sessionAffinity: 'ClientIP',
      trafficDistribution: 'PreferClose',
    });
    for (const kind of ['Ingress', 'HTTPRoute'])
      t.equal(theOnly(manifests, kind).metadata.labels.exposed, 'yes', kind);
    const volume = theOnly(render(ownVolumeAndSecrets), 'PersistentVolumeClaim').metadata;
    t.match(volume, { labels: { backup: 'daily' }, annotations: { 'example.com/backup': 'yes' } });
  });

  t.test('names with another middle', async (t) => {
    const named = (values: object, release = 'shop') =>
      theOnly(render({ ...leastValues, ...values }, { release }), 'Deployment').metadata;
    t.match(named({ nameOverride: 'gate' }), {
      name: 'shop-gate',
      labels: { 'app.kubernetes.io/name': 'gate' },
    });
    t.equal(named({ nameOverride: 'gate' }, 'gate').name, 'gate');
    t.equal(named({ nameOverride: 'gate', fullnameOverride: 'whole' }).name, 'whole');
  });

  t.test('the dashboard, as Grafana takes it', async (t) => {
    const { metadata, data } = theOnly(
      render({ ...leastValues, metrics: { dashboard: { enabled: true } } }),
      'ConfigMap',
      'shop-postern-dashboard',
    );
    t.equal(metadata.labels.grafana_dashboard, '1');
    t.strictSame(
      JSON.parse(data['postern.json']),
      JSON.parse(readFileSync('helm/dashboards/postern.json', 'utf8')),
    );
    const other = theOnly(render(ownVolumeAndSecrets), 'ConfigMap', 'shop-postern-dashboard').metadata;
    t.match(other, { labels: { dashboards: 'shop' }, annotations: { grafana_folder: 'Shop' } });
    t.notOk('grafana_dashboard' in other.labels);
  });

  t.test('alerts of the pods of this release, or of a job by name', async (t) => {
    const expressionsOf = (manifests: readonly Manifest[]): string[] =>
      theOnly(manifests, 'PrometheusRule').spec.groups.flatMap(({ rules }: any) =>
        rules.map(({ expr }: any) => expr),
      );
    for (const expression of expressionsOf(render(everything)))
      t.match(expression, '{namespace="default",job="shop-postern-management"');
    for (const expression of expressionsOf(render(ownVolumeAndSecrets)))
      t.match(expression, '{namespace="default",job="shop/orders"');
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
        ['acme-records-encryption', 'k2', 'records-encryption-k2'],
        ['acme-records-encryption', 'first', 'records-encryption-k1'],
      ],
    );
    t.notOk(
      manifests.some(({ kind }) => kind === 'Secret'),
      'the chart writes none',
    );
  });

  t.test('the pod of helm test goes, whatever it came to, and its log is printed before', async (t) => {
    const { annotations } = theOnly(render(leastValues), 'Pod').metadata;
    t.strictSame(annotations, {
      'helm.sh/hook': 'test',
      'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded,hook-failed',
      'helm.sh/hook-output-log-policy': 'hook-succeeded,hook-failed',
    });
  });

  t.test('the first probe comes when Postern listens', async (t) => {
    const { startupProbe, livenessProbe, readinessProbe } = podOf(render(leastValues)).containers[0];
    t.match(startupProbe, { initialDelaySeconds: 2, periodSeconds: 1, failureThreshold: 60 });
    t.notOk(livenessProbe.initialDelaySeconds ?? readinessProbe.initialDelaySeconds, 'these wait for it');
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
    t.strictSame(native.containers[0].lifecycle, { preStop: { sleep: { seconds: 8 } } });
    t.equal(native.terminationGracePeriodSeconds, 8 + 10 + 5 + 25 + 5);
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
