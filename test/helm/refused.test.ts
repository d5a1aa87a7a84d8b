import t from 'tap';
import { stringify } from 'yaml';
import { leastValues, render, requireHelm } from './helm.ts';

const loopback = { app: { url: 'http://127.0.0.1:9000' } };
const redis = { sessions: 'redis://redis.data' };
const orders = [{ name: 'orders', image: 'orders' }];
const provider = {
  issuer: 'https://login.example.com',
  client_id: 'postern',
  redirect_uri: 'https://acme.example.com/signed-in',
};

/** What is changed in the least values, and what helm says of it. */
const rows: readonly { name: string; config?: object; values?: object; says: RegExp }[] = [
  { name: 'no tenant', config: { tenant: undefined }, says: /config\.tenant is missing/ },
  { name: 'no base_url', config: { base_url: undefined }, says: /config\.base_url is missing/ },
  { name: 'no upstream', config: { upstreams: undefined }, says: /config\.upstreams is missing/ },
  { name: 'no route', config: { routes: undefined }, says: /config\.routes is missing/ },
  {
    name: 'probes that would find nobody',
    config: { management: { host: '127.0.0.1' } },
    says: /management\.host is 127\.0\.0\.1; the kubelet's probes come from outside/,
  },
  {
    name: 'one port for both listeners',
    config: { management: { port: 8080 } },
    says: /are both 8080; the public port must not serve \/metrics/,
  },
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
    name: 'a file where nothing can be written',
    config: { stores: { records: 'sqlite:/var/lib/postern.db' } },
    says: /config\.stores\.records is an SQLite file outside \/data/,
  },
  {
    name: 'a Redis without password',
    config: { stores: redis },
    says: /secrets\.sessionsPassword\.existingSecret is missing; config\.stores\.sessions is a server/,
  },
  {
    name: 'a PostgreSQL without password',
    config: { stores: { records: 'postgres://postern@records.data/postern' } },
    says: /secrets\.recordsPassword\.existingSecret is missing/,
  },
  {
    name: 'a password for a file',
    values: { secrets: { sessionsPassword: { existingSecret: 'redis' } } },
    says: /secrets\.sessionsPassword is the password of a server, but config\.stores\.sessions is an SQLite file/,
  },
  {
    name: 'a password in an address',
    config: { stores: { sessions: 'redis://acme:hunter2@redis.data' } },
    says: /config\.stores\.sessions has a password in its address/,
  },
  {
    name: 'a password of a store in plain text',
    config: { stores: { ...redis, sessions_password: 'hunter2' } },
    says: /config\.stores\.sessions_password is in plain text; name its Secret at secrets\.sessionsPassword/,
  },
  {
    name: 'an activation token in plain text',
    config: { bootstrap: { token: 'a token that is long enough' } },
    says: /config\.bootstrap\.token is in plain text/,
  },
  {
    name: 'a client secret in plain text',
    config: { identity_providers: { idp: { ...provider, client_secret: 'hunter2' } } },
    says: /config\.identity_providers\.idp\.client_secret is in plain text; name its Secret at secrets\.identityProviders\.idp/,
  },
  {
    name: 'a provider’s secret that is not named',
    config: { identity_providers: { idp: provider } },
    values: { secrets: { identityProviders: { idp: {} } } },
    says: /secrets\.identityProviders\.idp has no existingSecret/,
  },
  {
    name: 'a secret of no provider',
    values: { secrets: { identityProviders: { idp: { existingSecret: 'idp' } } } },
    says: /secrets\.identityProviders\.idp is the secret of no provider/,
  },
  {
    name: 'a gateway in front of its own loopback',
    config: { upstreams: loopback },
    says: /config\.upstreams\.app\.url is loopback, where a gateway's pod has Postern alone/,
  },
  {
    name: 'a sidecar in front of itself',
    config: { upstreams: { app: { url: 'http://localhost:8080' } } },
    values: { mode: 'sidecar', sidecar: { containers: orders } },
    says: /config\.upstreams\.app\.url is Postern's own port 8080/,
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
    name: 'a pod that is killed while it drains',
    values: { terminationGracePeriodSeconds: 30 },
    says: /terminationGracePeriodSeconds is 30, but a pod takes 30 s to end/,
  },
  {
    name: 'a sidecar’s pod that is killed while it drains',
    config: { upstreams: loopback, shutdown: { delay: '500ms', timeout: '1m' } },
    values: { mode: 'sidecar', sidecar: { containers: orders }, terminationGracePeriodSeconds: 77 },
    says: /terminationGracePeriodSeconds is 77, but a pod takes 77 s to end/,
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
  { name: 'a value that is not known', values: { replicas: 2 }, says: /Additional property replicas/ },
  { name: 'a key that is not known', config: { tennant: 'x' }, says: /Additional property tennant/ },
  {
    name: 'a port from outside, which the chart could not read',
    config: { listen: { port: { env: 'PORT' } } },
    says: /config\.listen\.port: Invalid type/,
  },
];

t.test('what can’t work is refused with a sentence', async (t) => {
  if (!requireHelm(t)) return;
  for (const { name, config, values, says } of rows)
    t.test(name, async (t) => {
      const all = { ...leastValues, ...values, config: { ...leastValues.config, ...config } };
      t.throws(() => render(all), { message: says }, stringify(all));
    });

  t.test('every problem is told at once', async (t) => {
    t.throws(() => render({}), { message: /config\.tenant .*config\.base_url .*config\.routes /s });
  });
});
