import t from 'tap';
import { requireHelm } from './helm.ts';
import { type Change, type Refusal, testRefusals, testTaken } from './refusals.ts';

const loopback = { app: { url: 'http://127.0.0.1:9000' } };
const redis = { sessions: 'redis://redis.data' };
const orders = [{ name: 'orders', image: 'orders' }];
const servers = {
  config: { stores: { records: 'postgres://postern@records.data/postern', ...redis } },
  values: {
    secrets: {
      recordsPassword: { existingSecret: 'stores' },
      sessionsPassword: { existingSecret: 'stores' },
    },
  },
};

function sidecar(more: object = {}): object {
  return { mode: 'sidecar', sidecar: { containers: orders, ...more } };
}

function on(kubeVersion: string): string[] {
  return ['--kube-version', kubeVersion];
}

const refused: readonly Refusal[] = [
  {
    name: 'several replicas on files',
    values: { replicaCount: 2 },
    says: /replicaCount is 2, but config\.stores\.records is an SQLite file.*replicaCount is 2, but config\.stores\.sessions/s,
  },
  {
    name: 'several replicas with sessions in Redis and records in a file',
    config: { stores: redis },
    values: { replicaCount: 2, secrets: { sessionsPassword: { existingSecret: 'redis' } } },
    says: /replicaCount is 2, but config\.stores\.records is an SQLite file/,
  },
  {
    name: 'several replicas on stores that nobody can see from here',
    config: { stores: { records: { env: 'RECORDS' }, sessions: { env: 'SESSIONS' } } },
    values: { replicaCount: 2 },
    says: /config\.stores\.sessions is an SQLite file \(or not written out\)/,
  },
  {
    name: 'scaling on files',
    values: { autoscaling: { enabled: true } },
    says: /autoscaling is enabled, but config\.stores\.records is an SQLite file/,
  },
  {
    name: 'a budget on files',
    values: { podDisruptionBudget: { enabled: true } },
    says: /podDisruptionBudget is enabled, but config\.stores\.records is an SQLite file/,
  },
  {
    name: 'a rolling update on files',
    values: { strategy: { type: 'RollingUpdate' } },
    says: /strategy must be Recreate with an SQLite store/,
  },
  {
    name: 'a service that is called postern',
    config: { upstreams: loopback },
    values: sidecar({ containers: [{ name: 'postern', image: 'orders' }] }),
    says: /two containers of the pod are called postern; each needs a name of its own/,
  },
  {
    name: 'two containers of one name',
    config: { upstreams: loopback },
    values: sidecar({ containers: [...orders, ...orders] }),
    says: /two containers of the pod are called orders/,
  },
  {
    name: 'a container and an init container of one name',
    config: { upstreams: loopback },
    values: sidecar({ initContainers: orders }),
    says: /two containers of the pod are called orders/,
  },
  {
    name: 'an extra container that is called postern',
    values: { extraContainers: [{ name: 'postern', image: 'other' }] },
    says: /two containers of the pod are called postern/,
  },
  {
    name: 'a sidecar of nothing',
    config: { upstreams: loopback },
    values: { mode: 'sidecar' },
    says: /sidecar\.containers is missing/,
  },
  {
    name: 'a gateway with the containers of a sidecar',
    values: { sidecar: { containers: orders } },
    says: /sidecar\.containers are given, but mode is gateway/,
  },
  {
    name: 'a gateway with the init containers of a sidecar',
    values: { sidecar: { initContainers: orders } },
    says: /sidecar\.initContainers are given, but mode is gateway/,
  },
  {
    name: 'a pod that is killed while it drains',
    values: { terminationGracePeriodSeconds: 30 },
    says: /terminationGracePeriodSeconds is 30, but a pod takes 30 s to end/,
  },
  {
    name: 'a sidecar’s pod that is killed while it drains',
    config: { upstreams: loopback, shutdown: { delay: '500ms', timeout: '1m' } },
    values: { ...sidecar(), terminationGracePeriodSeconds: 79 },
    says: /terminationGracePeriodSeconds is 79, but a pod takes 79 s to end/,
  },
  {
    name: 'a route without Gateway',
    values: { httpRoute: { enabled: true } },
    says: /httpRoute\.parentRefs is missing/,
  },
  {
    name: 'an ingress without host',
    config: { base_url: { env: 'BASE_URL' } },
    values: { ingress: { enabled: true } },
    says: /ingress is enabled, but its host is not given/,
  },
  {
    name: 'a native sidecar where there are none yet',
    config: { upstreams: loopback },
    values: sidecar(),
    args: on('1.28.15'),
    says: /sidecar\.native needs Kubernetes 1\.29; set it to false\. This cluster is v1\.28\.15/,
  },
  {
    name: 'a sleep before the end where there is none yet',
    config: { upstreams: loopback },
    values: sidecar(),
    args: on('1.29.9-gke.1'),
    says: /sidecar\.preStopSleepSeconds needs Kubernetes 1\.30; set it to 0/,
  },
  {
    name: 'a sleep of Postern’s own where there is none yet',
    values: { lifecycle: { preStop: { sleep: { seconds: 1 } } } },
    args: on('1.29.0'),
    says: /lifecycle\.preStop\.sleep needs Kubernetes 1\.30/,
  },
  {
    name: 'a service that ends while its native sidecar still lets requests in',
    config: { upstreams: loopback, shutdown: { delay: '8s' } },
    values: sidecar(),
    says: /sidecar\.preStopSleepSeconds is 8, but config\.shutdown\.delay is 8s/,
  },
  {
    name: 'a service that ends while its ordinary sidecar still lets requests in',
    config: { upstreams: loopback, shutdown: { delay: '7001ms' } },
    values: sidecar({ native: false }),
    says: /sidecar\.preStopSleepSeconds is 8, but config\.shutdown\.delay is 7001ms/,
  },
  {
    name: 'a service that ends at once beside an ordinary sidecar',
    config: { upstreams: loopback },
    values: sidecar({ native: false, preStopSleepSeconds: 0 }),
    says: /sidecar\.preStopSleepSeconds is 0, but config\.shutdown\.delay is 5s/,
  },
  {
    name: 'scaling by nothing',
    config: servers.config,
    values: { ...servers.values, autoscaling: { enabled: true, targetCPUUtilizationPercentage: null } },
    says: /autoscaling is enabled without a metric/,
  },
  {
    name: 'scaling down to more than up to',
    config: servers.config,
    values: { ...servers.values, autoscaling: { enabled: true, minReplicas: 6 } },
    says: /autoscaling\.minReplicas is 6, more than its maxReplicas, 5/,
  },
  {
    name: 'scaling without end',
    config: servers.config,
    values: { ...servers.values, autoscaling: { enabled: true, maxReplicas: null } },
    says: /autoscaling\.maxReplicas is missing/,
  },
  ...[
    { budget: { minAvailable: 3 }, says: /minAvailable is 3 of 2, all there are/ },
    { budget: { minAvailable: '100%' }, says: /minAvailable is 100% of 2, all there are/ },
    { budget: { minAvailable: '51%' }, says: /minAvailable is 51% of 2, all there are/ },
    { budget: { maxUnavailable: 0 }, says: /maxUnavailable is 0; no node could ever be drained/ },
    { budget: { maxUnavailable: '0%' }, says: /maxUnavailable is 0%; no node could ever be drained/ },
    { budget: { maxUnavailable: null }, says: /enabled with neither maxUnavailable nor minAvailable/ },
    { budget: { minAvailable: 'most' }, says: /podDisruptionBudget\.minAvailable: Does not match pattern/ },
  ].map(({ budget, says }) => ({
    name: `a budget of ${JSON.stringify(budget)}`,
    config: servers.config,
    values: { ...servers.values, replicaCount: 2, podDisruptionBudget: { enabled: true, ...budget } },
    says,
  })),
  {
    name: 'a budget of all that the scaling goes down to',
    config: servers.config,
    values: {
      ...servers.values,
      replicaCount: 9,
      autoscaling: { enabled: true },
      podDisruptionBudget: { enabled: true, minAvailable: 2 },
    },
    says: /minAvailable is 2 of 2, all there are/,
  },
  {
    name: 'a host of an ingress without name',
    values: { ingress: { enabled: true, hosts: [{ host: 'acme.example.com' }, { paths: [{ path: '/' }] }] } },
    says: /ingress\.hosts\[1\] has no host/,
  },
  {
    name: 'alerts of a job that nobody named',
    values: { metrics: { prometheusRule: { enabled: true } } },
    says: /prometheusRule is enabled without metrics\.serviceMonitor; name the job/,
  },
];

const drains = { lifecycle: { preStop: { exec: { command: ['/bin/drain'] } } } };

const taken: readonly Change[] = [
  {
    name: 'a native sidecar in a build of 1.29 whose service drains by itself',
    config: { upstreams: loopback },
    values: sidecar({ containers: [{ ...orders[0], ...drains }] }),
    args: on('1.29.1-eks-1'),
  },
  {
    name: 'an ordinary sidecar in 1.25 whose service drains by itself',
    config: { upstreams: loopback },
    values: sidecar({ native: false, preStopSleepSeconds: 0, containers: [{ ...orders[0], ...drains }] }),
    args: on('1.25.0'),
  },
  { name: 'a gateway in 1.25', args: on('1.25.0') },
  {
    name: 'a native sidecar that ends when its service has, by hooks of one’s own',
    config: { upstreams: loopback },
    values: { ...sidecar({ preStopSleepSeconds: 0 }), ...drains },
  },
  {
    name: 'a budget of half of two',
    config: servers.config,
    values: {
      ...servers.values,
      replicaCount: 2,
      podDisruptionBudget: { enabled: true, minAvailable: '50%' },
    },
  },
  {
    name: 'alerts of a job by name',
    values: { metrics: { prometheusRule: { enabled: true, job: 'pods' } } },
  },
];

t.test('a workload that can’t work is refused with a sentence', async (t) => {
  if (!requireHelm(t)) return;
  testRefusals(t, refused);
  testTaken(t, taken);
});
