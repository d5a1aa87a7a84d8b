import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type { Script } from 'node:vm';
import t from 'tap';
import { bootstrapToken } from '../support/gateway/gateway.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

// What `npm run build` makes, with nothing of this project beside it but the packages that it names.
const folder = makeTemporaryFolder('postern-test-');
const dist = join(folder, 'dist');
const main = join(dist, 'main.js');
t.teardown(() => rmSync(folder, { recursive: true }));
t.setTimeout(240_000);

/** Node as operators start it, without what the test runner has every Node load. */
const node = (args: readonly string[]) => {
  const plain = ['-u', 'NODE_OPTIONS', '-u', 'NODE_COMPILE_CACHE', process.execPath];
  return spawnSync('env', [...plain, ...args], { encoding: 'utf8' });
};
const run = (args: readonly string[]) => {
  const { status, stdout, stderr } = node(args);
  if (status !== 0) throw new Error(stderr);
  return stdout;
};

run(['build/bundle.ts', dist]);
cpSync('package.json', join(folder, 'package.json'));
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
run(['build/code-cache.ts', dist]);
const { compile, cacheFile } = createRequire(import.meta.url)(join(dist, 'load.js')) as {
  compile: (part: string, cachedData: Buffer) => Script;
  cacheFile: (part: string) => string;
};
const password = 'correct horse battery staple';
const parts = readdirSync(join(dist, 'program')).filter((file) => file.endsWith('.js'));

t.test('each part has a code cache that this Node takes', async (t) => {
  for (const part of parts) {
    const cache = readFileSync(cacheFile(part));
    t.equal(compile(`./${part}`, cache).cachedDataRejected, false, part);
  }
});

t.test('each part is strict, as its sources are', async (t) => {
  for (const part of parts)
    t.match(readFileSync(join(dist, 'program', part), 'utf8'), /^[^;]{0,90}["'`]use strict["'`];/, part);
});

t.test('parts need no other packages than those that the package names', async (t) => {
  const { dependencies } = JSON.parse(readFileSync(join(dist, 'package.json'), 'utf8'));
  const needed = new Set<string>();
  for (const part of parts) {
    const text = readFileSync(join(dist, 'program', part), 'utf8');
    for (const [, , name] of text.matchAll(/\brequire\((["'`])([^"'`./][^"'`]*)\1\)/g)) needed.add(name!);
  }
  const own = createRequire(import.meta.url)('node:module').builtinModules as string[];
  const absent = ['pg-cloudflare', 'pg-native', 'supports-color'];
  const packages = [...needed].filter(
    (name) => !name.startsWith('node:') && !own.includes(name) && !absent.includes(name),
  );
  t.strictSame(packages.sort(), Object.keys(dependencies).sort());
});

t.test('notices name every package that is in the parts', async (t) => {
  const notices = readFileSync(join(dist, 'NOTICES'), 'utf8');
  for (const name of ['zod', 'yaml', 'jose', 'pino', 'undici', 'ioredis', 'pg', 'preact'])
    t.match(notices, new RegExp(`^${name} \\d[^ ]* \\((MIT|ISC|Apache-2\\.0|BSD-3-Clause)\\)$`, 'm'));
});

t.test('it serves pages, the console and requests, by two workers', async (t) => {
  const gateway = await startGatewayProcess(t, {
    config: { workers: 2, endpoints: { users: 'own' }, web: { console: {} } },
    program: ['env', '-u', 'NODE_OPTIONS', '-u', 'NODE_COMPILE_CACHE', process.execPath, main],
  });
  const { api, managementPort } = gateway;
  const { status: activated } = await api.activate('ada', password, bootstrapToken);
  t.equal(activated, 201, 'a password is hashed');
  const { accessToken: bearer } = await api.signIn('ada', password);
  const paths = ['/api/admin/users/', '/api/openapi.json', '/postern/sign-in'];
  for (const path of paths) t.equal((await api.send({ path, bearer })).status, 200, path);
  const page = (await api.send({ path: '/postern/sign-in' })).text;
  t.equal((await api.send({ path: /href="([^"]+\.css)"/.exec(page)![1]! })).status, 200);
  t.equal((await api.send({ path: '/api/store' })).status, 401);
  t.equal((await fetch(`http://127.0.0.1:${managementPort}/metrics`)).status, 200);
});

t.test('its commands find their files', async (t) => {
  t.match(run([main, '--version']), /^\d+\.\d+\.\d+\n$/);
  const config = join(folder, 'postern.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      tenant: 'acme',
      base_url: 'http://localhost:8080',
      upstreams: { echo: { url: 'builtin:echo' } },
      routes: [{ prefix: '/api', upstream: 'echo' }],
      forward_auth: [{ port: 4180, mode: 'nginx' }],
      stores: { records: `sqlite:${folder}/records.db`, sessions: `sqlite:${folder}/sessions.db` },
    }),
  );
  t.match(run([main, 'forward-auth', 'config', 'nginx', '--config', config]), 'auth_request');
  t.match(run([main, 'check', '--config', config]), 'no problems');
  t.match(run([main, 'openapi', '--config', config]), '"openapi"');
});

t.test('stacks name source files where Node is asked for them', async (t) => {
  const program = join(folder, 'stack.cjs');
  // What the program writes at its end shows where it was called from.
  writeFileSync(
    program,
    `process.argv.push('--version');
    process.stdout.write = () => console.error(new Error('written').stack);
    require('./dist/load.js').load('./postern.js');`,
  );
  const stackOf = (...options: string[]) => node([...options, program]).stderr;
  t.match(stackOf('--enable-source-maps'), /src\/cli\/run\.ts:\d+/);
  t.match(stackOf(), /program\/postern\.js:\d+/);
});

t.test('a part that fails, fails again with the same error', async (t) => {
  // Otherwise a second import would get what the part had exported before it failed.
  const part = '(globalThis.posternPart = function () { "use strict"; throw new Error("broken"); })';
  writeFileSync(join(dist, 'program', 'failing.js'), part);
  const program = join(folder, 'twice.cjs');
  writeFileSync(
    program,
    `const { load } = require('./dist/load.js');
    for (const attempt of [1, 2]) try { load('./failing.js'); console.log('loaded'); } catch (error) { console.log(error.message); }`,
  );
  for (const options of [[], ['--enable-source-maps']])
    t.equal(run([...options, program]), 'broken\nbroken\n', options.join());
});
