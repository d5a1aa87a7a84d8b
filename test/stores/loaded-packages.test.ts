import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const hook = join(import.meta.dirname, '../support/programs/report-packages.ts');
const main = join(import.meta.dirname, '../../src/main.ts');

/** The packages that the main process of a gateway has loaded once it listens, in alphabetical order. */
async function packagesOf(t: Test, config: object, variables: readonly string[] = []): Promise<string[]> {
  const file = join(makeTemporaryFolder('postern-test-'), 'packages');
  const environment = ['-u', 'NODE_OPTIONS', `LOADED_PACKAGES=${file}`, ...variables];
  const node = [process.execPath, '--import', hook, main];
  const gateway = await startGatewayProcess(t, { config, program: ['env', ...environment, ...node] });
  return readFileSync(`${file}-${gateway.pid}`, 'utf8').trim().split('\n').sort();
}

// A package on these lists costs memory and CPU wherever that configuration runs.
const configuration = ['yaml', 'zod', 'ipaddr.js'];
const log = [
  ...['pino', '@pinojs/redact', 'atomic-sleep', 'on-exit-leak-free', 'pino-std-serializers'],
  ...['quick-format-unescaped', 'safe-stable-stringify', 'sonic-boom', 'thread-stream'],
];
const sqlite = ['better-sqlite3'];
const every = [...configuration, ...log, 'uuidv7'];
const serving = [...every, 'jose'];
const redis = [
  ...[
    'ioredis',
    '@ioredis/commands',
    'cluster-key-slot',
    'debug',
    'denque',
    'has-flag',
    'ms',
    'redis-errors',
  ],
  ...['standard-as-callback', 'supports-color'],
];
const postgres = [
  ...['pg', 'pg-connection-string', 'pg-int8', 'pg-pool', 'pg-protocol', 'pg-types', 'postgres-array'],
  ...['postgres-bytea', 'postgres-date', 'postgres-interval', 'xtend'],
];
const openTelemetry = ['api', 'core', 'exporter-trace-otlp-http', 'otlp-exporter-base', 'otlp-transformer']
  .concat('resources', 'sdk-metrics', 'sdk-trace', 'semantic-conventions')
  .map((name) => `@opentelemetry/${name}`);
const idp = {
  issuer: 'https://idp.example.com',
  client_id: 'postern',
  redirect_uri: 'https://acme.example.com/signed-in',
};

/** Configurations with the packages that they take. */
const kinds: Readonly<Record<string, readonly [config: object, packages: readonly string[]]>> = {
  'embedded stores': [{}, [...serving, ...sqlite]],
  'pages and the console': [
    { endpoints: { users: 'own' }, web: { console: {} } },
    [...serving, ...sqlite, 'htm', 'preact', 'preact-render-to-string'],
  ],
  'an identity provider': [
    { identity_providers: { idp } },
    [...serving, ...sqlite, 'oauth4webapi', 'undici'],
  ],
  'the engine of Node': [
    { listen: { host: '127.0.0.1', port: 0, engine: 'node' } },
    [...serving, ...sqlite]
      .concat('http-proxy-3', 'debug', 'follow-redirects', 'has-flag', 'ms', 'supports-color')
      .concat('undici'),
  ],
  'a supervisor of two workers': [{ workers: 2 }, every],
};

for (const [kind, [config, packages]] of Object.entries(kinds))
  t.test(`${kind}: only these packages are loaded`, async (t) => {
    t.strictSame(await packagesOf(t, config), [...packages].sort());
  });

t.test('tracing: only these packages are loaded', async (t) => {
  const packages = await packagesOf(t, {}, ['OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9']);
  t.strictSame(packages, [...serving, ...sqlite, ...openTelemetry].sort());
});

t.test('PostgreSQL and Redis: only these packages are loaded', async (t) => {
  if (!requirePostgres(t) || !requireRedis(t)) return;
  const [{ url: records }, { url: sessions }] = [await startPostgres(t), await startRedis(t)];
  const packages = await packagesOf(t, { stores: { records, sessions } });
  t.strictSame(packages, [...serving, ...redis, ...postgres].sort());
});
