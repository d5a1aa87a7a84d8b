import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants, type FileHandle, open } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { judgeElapsed } from '../support/elapsed.ts';
import { createCommandFolder, startPostern } from '../support/gateway/command.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';

/** A gateway with one request in flight, which the upstream answers when `release` is called. */
async function serveWithRequestInFlight(t: Test, config: object = {}) {
  const upstream = await startRecordingUpstream();
  t.teardown(() => upstream.close());
  const arrived = new Promise<ServerResponse>((resolve) => {
    upstream.response = (_request: IncomingMessage, response: ServerResponse) => resolve(response);
  });
  const folder = createCommandFolder(t, config, upstream.url);
  const gateway = await folder.serve();
  const response = gateway.api.send({ path: '/api/open/slow' });
  response.catch(() => {});
  const held = await arrived;
  return { gateway, response, release: () => held.end('late') };
}

async function untilDraining(managementPort: number): Promise<void> {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${managementPort}/readyz`);
    if (((await response.json()) as { status: string }).status === 'draining') return;
  }
}

/** Opens the named pipe for writing, as soon as somebody reads it. */
async function openOnceRead(pipe: string): Promise<FileHandle> {
  for (;;) {
    try {
      return await open(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
      await sleep(5);
    }
  }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`${signal} lets a request in flight finish, then serve is done`, async (t) => {
    const { gateway, response, release } = await serveWithRequestInFlight(t);
    gateway.child.kill(signal);
    await untilDraining(gateway.managementPort);
    release();
    t.match(await response, { status: 200, text: 'late' });
    const { code, stdout, stderr } = await gateway.ended;
    t.equal(code, 0);
    t.match(stdout, /"path":"\/api\/open\/slow".*"status":200/, 'what was logged is written out');
    t.match(stderr, /^postern: listening on [^\n]*\n$/, 'nothing else is said');
  });
}

t.test('a second signal ends serve at once with 1', async (t) => {
  const { gateway, response } = await serveWithRequestInFlight(t);
  gateway.child.kill('SIGTERM');
  await untilDraining(gateway.managementPort);
  gateway.child.kill('SIGINT');
  t.equal((await gateway.ended).code, 1);
  await t.rejects(response);
});

t.test('a request cut at the end of shutdown.timeout is logged as such', async (t) => {
  const { gateway, response } = await serveWithRequestInFlight(t, {
    shutdown: { delay: '0s', timeout: '100ms' },
  });
  gateway.child.kill('SIGTERM');
  await t.rejects(response);
  const { code, stdout } = await gateway.ended;
  t.equal(code, 0);
  t.match(stdout, /"path":"\/api\/open\/slow".*"status":0.*"outcome":"shutdown"/);
});

t.test('a start that waits for its store ends when it is asked to', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const asked = once(silent, 'connection');
  const { configFile } = createCommandFolder(t, {
    stores: { records: `postgres://postern@127.0.0.1:${port}/postern`, sessions: 'sqlite:sessions.db' },
  });
  const { child, ended } = startPostern(['serve', '--config', configFile]);
  t.teardown(() => child.kill('SIGKILL'));
  const [connection] = (await asked) as [Socket];
  const askedAt = performance.now();
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  t.equal(code, 0);
  t.equal(stderr, '');
  judgeElapsed(t, askedAt, 2_000);
  connection.destroy();
  silent.close();
});

t.test('SIGHUP during start-up is no reason to end', async (t) => {
  const { folder, configFile } = createCommandFolder(t);
  const pipe = join(folder, 'pipe.yaml');
  execFileSync('mkfifo', [pipe]);
  const { child, ended } = startPostern(['serve', '--config', pipe]);
  t.teardown(() => child.kill('SIGKILL'));
  const writer = await Promise.race([openOnceRead(pipe), ended.then(({ stderr }) => Promise.reject(stderr))]);
  child.kill('SIGHUP');
  await writer.writeFile(readFileSync(configFile));
  await writer.close();
  child.kill('SIGTERM');
  t.equal((await ended).code, 0);
});

t.test('a signal during start-up stops serve as soon as it has started', async (t) => {
  const { folder, configFile } = createCommandFolder(t);
  // Opening its other end tells that serve reads the configuration, and holds it there.
  const pipe = join(folder, 'pipe.yaml');
  execFileSync('mkfifo', [pipe]);
  const { child, ended } = startPostern(['serve', '--config', pipe]);
  t.teardown(() => child.kill('SIGKILL'));
  const writer = await Promise.race([openOnceRead(pipe), ended.then(({ stderr }) => Promise.reject(stderr))]);
  child.kill('SIGTERM');
  await writer.writeFile(readFileSync(configFile));
  await writer.close();
  t.equal((await ended).code, 0);
});

for (const key of ['listen', 'management']) {
  t.test(`a port of ${key} that is in use is one sentence`, async (t) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    t.teardown(() => other.close());
    const { port } = other.address() as AddressInfo;
    const { run } = createCommandFolder(t, { [key]: { host: '127.0.0.1', port } });
    const { code, stderr } = await run(['serve']);
    t.equal(code, 1);
    t.equal(
      stderr,
      `postern: can't listen on 127.0.0.1:${port} (${key}): the address is in use; stop what listens there, or choose another port with ${key}.port\n`,
    );
  });
}

const unexpected = [
  { name: 'an uncaught exception', origin: 'uncaughtException', code: "throw new Error('boom')" },
  { name: 'an unhandled rejection', origin: 'unhandledRejection', code: "Promise.reject(new Error('boom'))" },
];

for (const { name, origin, code } of unexpected) {
  t.test(`${name} is logged and ends serve with 1`, async (t) => {
    const folder = createCommandFolder(t);
    const trap = `data:text/javascript,process.on('SIGUSR2',()=>{${code}})`;
    const { child, ended } = await folder.serve([], ['--import', trap]);
    child.kill('SIGUSR2');
    const result = await ended;
    t.equal(result.code, 1);
    // Lines that a thread was writing as the process ended may come after it.
    const lines = result.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    t.match(
      lines.filter(({ level }) => level === 'error'),
      [{ origin, err: { message: 'boom' } }],
    );
  });
}
