import { readFileSync } from 'node:fs';
import t from 'tap';
import { documentsIn, type Manifest, render, requireHelm, valuesFiles } from './helm.ts';
import { problemsOfPod } from './pod-security.ts';

/** The pods that manifests make, by kind and name. */
function podsOf(manifests: readonly Manifest[]): Map<string, any> {
  const pods = manifests.flatMap(({ kind, metadata, spec }) => {
    const pod = kind === 'Pod' ? spec : spec?.template?.spec;
    return pod ? [[`${kind} ${metadata.name}`, pod] as const] : [];
  });
  return new Map(pods);
}

t.test('the Pod Security level restricted takes every pod', async (t) => {
  if (!requireHelm(t)) return;

  for (const file of valuesFiles)
    t.test(file, async (t) => {
      const pods = podsOf(render(file));
      t.ok(
        [...pods.keys()].some((name) => name.startsWith('Deployment ')),
        'the gateway',
      );
      t.ok(
        [...pods.keys()].some((name) => name.startsWith('Pod ')),
        'and that of helm test',
      );
      for (const [name, pod] of pods) t.strictSame(problemsOfPod(pod), [], name);
    });

  t.test('the example', async (t) => {
    const pods = podsOf(documentsIn(readFileSync('examples/kubernetes/rendered.yaml', 'utf8')));
    t.strictSame([...pods.keys()], ['Deployment notes']);
    for (const [name, pod] of pods) t.strictSame(problemsOfPod(pod), [], name);
  });

  t.test('the pods that the documentation starts by hand', async (t) => {
    const document = readFileSync('docs/kubernetes.md', 'utf8');
    const overrides = [...document.matchAll(/--overrides='(\{.*?\})'/gs)].map(([, json]) =>
      JSON.parse(json!),
    );
    t.equal(overrides.length, 2);
    for (const { spec } of overrides) t.strictSame(problemsOfPod(spec), [], spec.containers[0].name);
  });
});

const good = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    { name: 'app', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
  ],
};
const withContainer = (own: object, more: object = {}) => ({
  ...good,
  containers: [
    { ...good.containers[0], ...more, securityContext: { ...good.containers[0]!.securityContext, ...own } },
  ],
});

const refused: readonly (readonly [string, object])[] = [
  ['hostNetwork', { ...good, hostNetwork: true }],
  ['volume node is hostPath', { ...good, volumes: [{ name: 'node', hostPath: { path: '/' } }] }],
  ['app has no seccomp profile', { ...good, securityContext: { runAsNonRoot: true } }],
  ['app may run as root', withContainer({ runAsNonRoot: false })],
  ['app runs as root', withContainer({ runAsUser: 0 })],
  ['app may escalate its privileges', withContainer({ allowPrivilegeEscalation: undefined })],
  ['app keeps capabilities', withContainer({ capabilities: {} })],
  ['app adds capabilities', withContainer({ capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } })],
  ['app takes a port of the node', withContainer({}, { ports: [{ containerPort: 80, hostPort: 80 }] })],
  [
    'app has the kubelet ask another host',
    withContainer({}, { readinessProbe: { httpGet: { host: '127.0.0.1', port: 80 } } }),
  ],
];

t.test('the check refuses what the level refuses', async (t) => {
  t.strictSame(problemsOfPod(good), []);
  for (const [problem, pod] of refused) t.strictSame(problemsOfPod(pod), [problem]);
});
