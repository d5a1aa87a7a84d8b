import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/report/problems.ts';
import { parseDuration, parseSize } from '../../src/config/values/durations-and-sizes.ts';
import { catalogueOf } from '../../src/config/values/scope-names.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { env, loadGood, required, requiredAndRoute } from './config-rows.ts';

t.test('accept is a list, a trailing slash goes, upgrades are in lower case', async (t) => {
  const { config } = loadGood(
    t,
    `upstreams: { app: { url: builtin:echo } }
routes: [{ prefix: /a/, upstream: app, accept: session, upgrades: [MQTT] }, { prefix: /, upstream: app }]`,
  );
  t.match(config.routes, [{ prefix: '/a', accept: ['session'], upgrades: ['mqtt'] }, { prefix: '/' }]);
});

t.test('values from outside take the type that the key wants', async (t) => {
  const { config } = loadGood(
    t,
    `bootstrap: { token: { env: TOKEN } }
listen: { port: { env: PORT } }
limits: { own_body: { env: SIZE } }
sessions: { cookie: { secure: { env: YES }, name: { env: PORT } } }
trusted_proxies: [{ env: MISSING, optional: true }, "::1"]
log: { level: { env: MISSING, optional: true } }
scopes: { env: The environment, file: Files }
identity_providers:
  idp:
    issuer: https://i.example
    client_id: { env: TOKEN }
    redirect_uri: https://a.example/
    require: { a: { env: PORT }, b: { env: YES }, c: { env: NO }, d: 8081, e: "8081" }`,
  );
  t.equal(config.bootstrap.token, '01234567890123456789');
  t.equal(config.listen.port, 8081);
  t.equal(config.limits.own_body, 2048);
  t.match(config.sessions.cookie, { secure: true, name: '8081' });
  t.strictSame(config.trusted_proxies, ['::1'], 'an optional item that is not there leaves no hole');
  t.equal(config.log.level, 'info', 'an optional key that is not there has its default');
  t.strictSame(Object.keys(config.scopes), ['env', 'file'], 'a map of the names env and file stays one');
  t.equal(config.identity_providers.idp!.client_id, env.TOKEN);
  t.strictSame(config.identity_providers.idp!.require, { a: 8081, b: true, c: 'no', d: 8081, e: '8081' });
});

const token = 'a token of two lines\nwith blanks ';
for (const [sentence, content, expected] of [
  ['one trailing newline of a file is dropped', `${token}\n`, token],
  ['one trailing newline of DOS is dropped', `${token}\r\n`, token],
  ['only one trailing newline is dropped', `${token}\n\n`, `${token}\n`],
  ['a file without trailing newline is taken as it is', token, token],
] as const)
  t.test(sentence, async (t) => {
    const { config, sources, folder } = loadGood(t, 'bootstrap: { token: { file: secrets/token } }', {
      secrets: { token: content },
    });
    t.equal(config.bootstrap.token, expected);
    t.strictSame(sources, [`${folder}/postern.yaml`, `${folder}/secrets/token`]);
  });

t.test('an optional file that is missing counts as absent, and is a source nevertheless', async (t) => {
  const { config, sources, folder } = loadGood(t, 'bootstrap: { token: { file: later, optional: true } }');
  t.strictSame(config.bootstrap, {});
  t.ok(sources.includes(`${folder}/later`));
});

t.test('a file that is not UTF-8 is a problem even when optional', async (t) => {
  const folder = t.testdir({
    'c.yaml': `${requiredAndRoute}bootstrap: { token: { file: t, optional: true } }`,
    t: Buffer.from([0xff]),
  });
  t.match(loadConfig(join(folder, 'c.yaml'), {}).problems, [
    { line: 5, column: 21, rule: 'file t is not UTF-8' },
  ]);
});

const certificate = makeCertificate(t.testdir(), 'a', ['DNS:a']);

t.test('relative paths start at the folder of the file, absolute ones stay', async (t) => {
  const { config, folder } = loadGood(
    t,
    `listen: { tls: { cert: a.crt, key: ${certificate.keyFile} } }
stores: { records: "sqlite:/var/p.db", sessions: "redis+unix:run/redis.sock" }
upstreams:
  a: { url: unix:run/a.sock }
  b: { url: "https://b:1", tls: { ca: inner/../ca.pem, server_name: b } }`,
    { 'a.crt': String(certificate.cert), 'ca.pem': String(certificate.cert), inner: {} },
  );
  t.strictSame(config.listen.tls, {
    cert: `${folder}/a.crt`,
    key: certificate.keyFile,
    client_certificate: 'require',
  });
  t.strictSame(config.stores.records, { kind: 'sqlite', path: '/var/p.db' });
  t.match(config.stores.sessions, { kind: 'socket', path: `${folder}/run/redis.sock` });
  t.strictSame(config.upstreams.a!.url, { kind: 'socket', path: `${folder}/run/a.sock` });
  t.strictSame(config.upstreams.b!.tls, { ca: join(folder, 'ca.pem'), server_name: 'b' });
});

t.test('base_url loses its trailing slash', async (t) => {
  const folder = t.testdir({
    'c.yaml': `${requiredAndRoute.replace('https://acme.example.com', 'http://127.0.0.1:8080/')}`,
  });
  t.equal(loadConfig(join(folder, 'c.yaml'), {}).config!.base_url, 'http://127.0.0.1:8080');
});

for (const [url, address] of Object.entries({
  'postgres://db/postern': { kind: 'postgres', host: 'db', database: 'postern', tls: false },
  'postgresql://u:p%40@db.example:5432/postern?sslmode=require': { user: 'u', password: 'p@', tls: true },
  'redis://127.0.0.1:6379': { kind: 'server', at: { host: '127.0.0.1', port: 6379 }, tls: false },
  'redis://:secret@[::1]:6379/3': { at: { host: '::1', port: 6379 }, password: 'secret', db: 3 },
  'rediss://user:secret@cache.example': { username: 'user', password: 'secret', tls: true },
  'redis+sentinel://u:p@a:26379,b:26379,c/primary': { kind: 'sentinel', name: 'primary' },
  'redis+cluster://a:7000,b:7001': { kind: 'cluster', nodes: [{ port: 7000 }, { port: 7001 }] },
}))
  t.test(`${url} is the address of a store`, async (t) => {
    const store = url.startsWith('postgres') ? 'records' : 'sessions';
    t.match(loadGood(t, `stores: { ${store}: "${url}" }`).config.stores[store], address);
  });

for (const [url, address] of Object.entries({
  'http://App.example': { tls: false, host: 'app.example', port: 80, authority: 'app.example', basePath: '' },
  'http://app:080': { tls: false, host: 'app', port: 80, authority: 'app', basePath: '' },
  'https://app': { tls: true, host: 'app', port: 443, authority: 'app', basePath: '' },
  'https://[::1]:8443': { tls: true, host: '::1', port: 8443, authority: '[::1]:8443', basePath: '' },
  'http://App:1/Base/v1.0': { tls: false, host: 'app', port: 1, authority: 'app:1', basePath: '/Base/v1.0' },
}))
  t.test(`${url} is the address of an upstream`, async (t) => {
    const { config } = loadGood(t, `upstreams: { app: { url: "${url}" } }`);
    t.strictSame(config.upstreams.app!.url, { kind: 'server', ...address });
  });

t.test('aliases stand for what they name', async (t) => {
  const { config } = loadGood(
    t,
    `upstreams: { app: { url: builtin:echo } }
routes:
  - { prefix: /a, upstream: app, scopes: &readers [users:read] }
  - { prefix: /b, upstream: app, scopes: { read: *readers } }`,
  );
  t.match(config.routes[1], { scopes: { read: ['users:read'] } });
});

t.test('an alias within itself ends where the schema does', async (t) => {
  const folder = t.testdir({ 'c.yaml': `${requiredAndRoute}trusted_proxies: &a [*a]` });
  t.match(loadConfig(join(folder, 'c.yaml'), {}).problems, [
    { line: 5, column: 22, key: 'trusted_proxies[0]' },
  ]);
});

t.test('aliases that multiply are refused before they fill the memory', async (t) => {
  const many = (item: string) => Array(400).fill(item).join(', ');
  const yaml = `${required}scopes: { a: A }
routes:
  - &r { prefix: /, upstream: x, scopes: { read: &s [${many('a')}] } }
${`  - *r\n`.repeat(400)}`;
  const folder = t.testdir({ 'c.yaml': yaml });
  t.strictSame(loadConfig(join(folder, 'c.yaml'), {}).problems, [
    { line: 1, column: 1, key: 'configuration', rule: 'is too large' },
  ]);
});

t.test('YAML is 1.2, whatever the file claims', async (t) => {
  const folder = t.testdir({ 'c.yaml': `%YAML 1.1\n---\n${requiredAndRoute}log: { level: no }` });
  t.match(loadConfig(join(folder, 'c.yaml'), {}).problems, [{ line: 7, column: 15, value: 'no' }]);
});

t.test('a byte order mark and lines of DOS change neither meaning nor place', async (t) => {
  const folder = t.testdir({
    'c.yaml': `\ufeff${requiredAndRoute.replace('acme', 'a b').replaceAll('\n', '\r\n')}`,
  });
  t.match(loadConfig(join(folder, 'c.yaml'), {}).problems, [{ line: 1, column: 9, key: 'tenant' }]);
});

for (const [sentence, name, rule] of [
  ['a missing configuration file', 'none.yaml', "can't be read: no such file (ENOENT)"],
  ['a folder in place of the configuration file', '.', "can't be read: it is a folder (EISDIR)"],
  ['a configuration file that is not UTF-8', 'latin1.yaml', 'must be UTF-8'],
] as const)
  t.test(sentence, async (t) => {
    const file = join(t.testdir({ 'latin1.yaml': Buffer.from('tenant: \xe4', 'latin1') }), name);
    const { problems = [], sources } = loadConfig(file, {});
    t.strictSame(problems, [{ line: 1, column: 1, key: 'configuration', rule }]);
    t.equal(formatProblem(file, problems[0]!), `${file}:1:1: configuration: ${rule}`);
    t.strictSame(sources, [file]);
  });

t.test('a problem stays on one line and within bounds', async (t) => {
  const problem = {
    line: 1,
    column: 2,
    key: 'scopes.a\nb',
    rule: 'is not valid',
    value: `\u001b[31m${'x'.repeat(200)}`,
  };
  t.equal(
    formatProblem('c.yaml', problem),
    `c.yaml:1:2: scopes.a\\u{a}b: is not valid (\\u{1b}[31m${'x'.repeat(95)}…)`,
  );
});

t.test('the catalogue is sorted and has the built-in scopes once', async (t) => {
  t.strictSame(catalogueOf({ scopes: { 'store:read': '', 'users:read': '', B: '' } }), [
    'B',
    'apikeys:read',
    'apikeys:write',
    'audit:read',
    'scopesets:read',
    'scopesets:write',
    'sessions:read',
    'sessions:write',
    'store:read',
    'users:read',
    'users:write',
  ]);
});

t.test('durations and sizes', async (t) => {
  const durations = {
    '0s': 0,
    '500ms': 500,
    '10s': 10_000,
    '15m': 900_000,
    '12h': 43_200_000,
    '30d': 2_592_000_000,
  };
  for (const [text, value] of Object.entries(durations)) t.equal(parseDuration(text), value, text);
  const sizes = { 0: 0, 512: 512, '512B': 512, '64KiB': 65_536, '10MiB': 10_485_760, '1GiB': 1_073_741_824 };
  for (const [text, value] of Object.entries(sizes)) t.equal(parseSize(text), value, text);
  for (const text of ['', '10', 's', '1.5s', '-1s', '10 s', '10S', '1w'])
    t.throws(() => parseDuration(text), RangeError);
  for (const text of ['', 'KiB', '1.5KiB', '-1', '1 KiB', '1kib', '1KB', '1TiB'])
    t.throws(() => parseSize(text), RangeError);
});
