import t from 'tap';
import { render, requireHelm } from './helm.ts';
import { type Change, type Refusal, testRefusals, testTaken } from './refusals.ts';

const redis = { sessions: 'redis://redis.data' };
const provider = {
  issuer: 'https://login.example.com',
  client_id: 'postern',
  redirect_uri: 'https://acme.example.com/signed-in',
};
const exec = { httpGet: null, exec: { command: ['true'] } };
const execProbes = { startupProbe: exec, livenessProbe: exec, readinessProbe: exec };

const refused: readonly Refusal[] = [
  { name: 'no tenant', config: { tenant: undefined }, says: /config\.tenant is missing/ },
  { name: 'no base_url', config: { base_url: undefined }, says: /config\.base_url is missing/ },
  { name: 'no upstream', config: { upstreams: undefined }, says: /config\.upstreams is missing/ },
  { name: 'no route', config: { routes: undefined }, says: /config\.routes is missing/ },
  {
    name: 'probes that would find nobody',
    config: { management: { host: '127.0.0.1' } },
    says: /management\.host is 127\.0\.0\.1; the kubelet's startupProbe comes from outside.*readinessProbe/s,
  },
  {
    name: 'one port for both listeners',
    config: { management: { port: 8080 } },
    says: /are both 8080; the public port must not serve \/metrics/,
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
    name: 'a password in the address of a socket',
    config: { stores: { sessions: 'redis+unix:acme:hunter2@/run/redis.sock' } },
    says: /config\.stores\.sessions has a password in its address/,
  },
  {
    name: 'a password of a store that is given twice',
    config: { stores: { ...redis, sessions_password: { env: 'REDIS_PASSWORD' } } },
    values: { secrets: { sessionsPassword: { existingSecret: 'redis' } } },
    says: /config\.stores\.sessions_password is given twice, there and in secrets; leave one/,
  },
  {
    name: 'an activation token that is given twice',
    config: { bootstrap: { token: { env: 'POSTERN_BOOTSTRAP_TOKEN', optional: true } } },
    values: { secrets: { bootstrapToken: { existingSecret: 'acme' } } },
    says: /config\.bootstrap\.token is given twice/,
  },
  {
    name: 'a client secret that is given twice',
    config: { identity_providers: { idp: { ...provider, client_secret: { file: '/run/idp' } } } },
    values: { secrets: { identityProviders: { idp: { existingSecret: 'idp' } } } },
    says: /config\.identity_providers\.idp\.client_secret is given twice/,
  },
  {
    name: 'a certificate that is given twice',
    config: { listen: { tls: { cert: '/run/mine.crt', key: { env: 'KEY_FILE' } } } },
    values: { tls: { existingSecret: 'acme-tls' } },
    says: /config\.listen\.tls is given twice, there and by tls\.existingSecret/,
  },
  {
    name: 'authorities of clients without a certificate of its own',
    values: { tls: { clientCa: { existingSecret: 'acme-clients' } } },
    says: /tls\.clientCa is for HTTPS from Postern itself/,
  },
  {
    name: 'a second configuration file, in two words',
    values: { extraArgs: ['--json', '--config', '/x'] },
    says: /extraArgs has --config, which Postern is given already/,
  },
  {
    name: 'a second configuration file, in one',
    values: { extraArgs: ['--config=/x'] },
    says: /extraArgs has --config/,
  },
  {
    name: 'an origin that is none',
    config: { base_url: 'acme.example.com' },
    values: { ingress: { enabled: true } },
    says: /config\.base_url is acme\.example\.com; it must be an origin/,
  },
  {
    name: 'an origin that no parser takes',
    config: { base_url: 'https://%zz' },
    values: { ingress: { enabled: true } },
    says: /config\.base_url is https:\/\/%zz; it must be an origin/,
  },
  ...['postern/instance', 'postern/test', 'app.kubernetes.io/name', 'app.kubernetes.io/instance'].flatMap(
    (label) =>
      ['commonLabels', 'podLabels'].map((key) => ({
        name: `${label} among the ${key}`,
        values: { [key]: { [label]: 'other' } },
        says: new RegExp(`${key}: Property name of "${label}" does not match`),
      })),
  ),
  {
    name: 'a label of the management Service on the public one',
    values: { service: { labels: { 'postern/management': 'shop-postern' } } },
    says: /service\.labels: Property name of "postern\/management" does not match/,
  },
  {
    name: 'a name that YAML takes for something else',
    values: { fullnameOverride: 'true' },
    says: /fullnameOverride: Must not validate the schema/,
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
    name: 'the secret of an assertion in plain text',
    config: {
      upstreams: { app: { url: 'http://app:80', assertion: { algorithm: 'HS256', secret: 'x'.repeat(32) } } },
    },
    says: /config\.upstreams\.app\.assertion\.secret is in plain text; name its Secret at secrets\.assertions\.app/,
  },
  {
    name: 'an assertion’s secret that is not named',
    config: { upstreams: { app: { url: 'http://app:80', assertion: { algorithm: 'HS256' } } } },
    values: { secrets: { assertions: { app: {} } } },
    says: /secrets\.assertions\.app has no existingSecret/,
  },
  ...[{}, { assertion: {} }].map((assertion) => ({
    name: `the secret of an upstream with ${JSON.stringify(assertion)}`,
    config: { upstreams: { app: { url: 'http://app:80', ...assertion } } },
    values: { secrets: { assertions: { app: { existingSecret: 'app' } } } },
    says: /secrets\.assertions\.app is the secret of no upstream in config\.upstreams whose assertion has the algorithm HS256/,
  })),
  { name: 'a value that is not known', values: { replicas: 2 }, says: /Additional property replicas/ },
  { name: 'a key that is not known', config: { tennant: 'x' }, says: /Additional property tennant/ },
  {
    name: 'a port from outside, which the chart could not read',
    config: { listen: { port: { env: 'PORT' } } },
    says: /config\.listen\.port: Invalid type/,
  },
  {
    name: 'no image',
    values: { image: {} },
    says: /image\.repository is missing; name the place in your registry/,
  },
  {
    name: 'upstreams without address',
    config: { upstreams: { app: {}, more: { host: 'x' }, whole: { url: 'http://orders.shop:9000' } } },
    says: /config\.upstreams\.\*\.url is missing of app, more;/,
  },
  {
    name: 'routes to no upstream',
    config: {
      routes: [
        { prefix: '/api', upstream: 'ap' },
        { exact: '/health', upstream: 'p' },
      ],
    },
    says: /leads \/api to the upstream ap, which is not in.*leads \/health to the upstream p, which is not in/s,
  },
  {
    name: 'a gateway that listens to itself',
    config: { listen: { host: 'localhost' } },
    says: /config\.listen\.host is localhost, which no Service reaches/,
  },
  {
    name: 'metrics that nobody can fetch',
    config: { management: { host: '::1' } },
    values: { ...execProbes, metrics: { serviceMonitor: { enabled: true } } },
    says: /config\.management\.host is ::1; Prometheus.* comes from outside/,
  },
  {
    name: 'a password among the parameters of an address',
    config: { stores: { records: 'postgres://records.data/postern?user=p&password=hunter2' } },
    says: /config\.stores\.records has a password in its address/,
  },
  {
    name: 'the password of a key among the parameters of an address',
    config: { stores: { records: 'postgres://records.data/postern?sslpassword=hunter2' } },
    says: /config\.stores\.records has a password in its address/,
  },
];

const taken: readonly Change[] = [
  {
    name: 'a management port that only the pod itself asks',
    config: { management: { host: '127.0.0.1' } },
    values: execProbes,
  },
  {
    name: 'a route and an address from the environment',
    config: {
      upstreams: { app: { url: { env: 'APP_URL' } } },
      routes: [{ prefix: '/api', upstream: { env: 'UPSTREAM' } }],
    },
  },
  {
    name: 'a socket with a colon and an at sign in its path',
    config: { stores: { sessions: 'redis+unix:/run/a:b@c.sock' } },
    values: { secrets: { sessionsPassword: { required: false } } },
  },
  {
    name: 'labels of others with names that only begin alike',
    values: { commonLabels: { 'app.kubernetes.io/name-of-team': 'x', 'app.kubernetes.io/part-of': 'shop' } },
  },
  {
    name: 'other arguments',
    values: { extraArgs: ['--json'] },
  },
  {
    name: 'parameters of an address that are no password',
    config: { stores: { records: 'postgres://postern@records.data/postern?application_name=password' } },
    values: { secrets: { recordsPassword: { existingSecret: 'records' } } },
  },
];

t.test('a configuration that can’t work is refused with a sentence', async (t) => {
  if (!requireHelm(t)) return;
  testRefusals(t, refused);
  testTaken(t, taken);

  t.test('every problem is told at once', async (t) => {
    t.throws(() => render({}), {
      message: /image\.repository .*config\.tenant .*config\.base_url .*config\.routes /s,
    });
  });
});
