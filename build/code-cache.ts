import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Script } from 'node:vm';

// node build/code-cache.ts [folder]: puts V8's code cache beside each part of the program in `dist`, or that folder: the functions
// that a gateway compiles until it has refused its first request. The cache fits only the version of Node that runs this file,
// and its kind of machine.

const dist = resolve(process.argv[2] ?? 'dist');
const program = join(dist, 'program');
const { load, compile, parts, cacheFile } = createRequire(import.meta.url)(join(dist, 'load.js')) as {
  load: (part: string) => unknown;
  compile: (part: string) => Script;
  parts: ReadonlyMap<string, { readonly script: Script }>;
  cacheFile: (part: string) => string;
};

const folder = mkdtempSync(join(tmpdir(), 'postern-build-'));
const [port, managementPort] = await Promise.all([freePort(), freePort()]);
const config = {
  tenant: 'build',
  base_url: `http://localhost:${port}`,
  listen: { host: '127.0.0.1', port },
  management: { port: managementPort },
  upstreams: { echo: { url: 'builtin:echo' } },
  log: { level: 'warn' },
  routes: [{ prefix: '/api', upstream: 'echo' }],
  stores: { records: `sqlite:${folder}/records.db`, sessions: `sqlite:${folder}/sessions.db` },
};
writeFileSync(join(folder, 'postern.yaml'), JSON.stringify(config));
const names = readdirSync(program).filter((file) => file.endsWith('.js'));
// With a cache, if only an empty one that V8 rejects, the loader makes the scripts that are asked for their caches below.
for (const name of names) writeFileSync(cacheFile(name), '');
process.argv.splice(2, Number.POSITIVE_INFINITY, 'serve', '--config', join(folder, 'postern.yaml'));
load('./postern.js');
while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, 50));
await fetch(`http://127.0.0.1:${port}/api/store`);

// V8 takes a cache only under the flags that it was made with: those of a start, before the gateway turned this compiler off.
setFlagsFromString('--maglev');
for (const name of names) {
  const script = parts.get(`./${name}`)?.script ?? compile(name);
  writeFileSync(cacheFile(name), script.createCachedData());
}
rmSync(folder, { recursive: true });
process.exit(0);

async function isReady(): Promise<boolean> {
  return fetch(`http://127.0.0.1:${managementPort}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
