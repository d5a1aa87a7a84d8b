import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { judgeElapsed } from '../support/elapsed.ts';
import { createCommandFolder, type ServeProcess } from '../support/gateway/command.ts';

const shutdown = { delay: '0s', timeout: '1s' };
/** Ends within the times of `shutdown`, and that of the log's own last lines. */
const soonMs = 5_000;
const trap = "data:text/javascript,process.on('SIGUSR2',()=>{throw new Error('boom')})";

/** A gateway whose standard output, a socket, holds all it can and is read no more. */
async function serveUnread(t: Test, nodeArgs: readonly string[] = []): Promise<ServeProcess> {
  const gateway = await createCommandFolder(t, { shutdown }).serve([], nodeArgs);
  gateway.child.stdout!.pause();
  for (let i = 0; i < 300; i++) await gateway.api.send({ path: `/api/open/${'x'.repeat(3_000)}` });
  await sleep(200);
  return gateway;
}

/** The exit code; at full size it must come soon. */
async function exitCode(t: Test, { child }: ServeProcess): Promise<number | null> {
  const sinceMs = performance.now();
  if (child.exitCode === null) await once(child, 'exit');
  judgeElapsed(t, sinceMs, soonMs);
  return child.exitCode;
}

t.test('a signal ends serve, whatever reads its log', async (t) => {
  const gateway = await serveUnread(t);
  gateway.child.kill('SIGTERM');
  t.equal(await exitCode(t, gateway), 0);
});

t.test('a second signal ends serve at once, whatever reads its log', async (t) => {
  const gateway = await serveUnread(t);
  const begun = performance.now();
  gateway.child.kill('SIGTERM');
  await sleep(100);
  gateway.child.kill('SIGTERM');
  t.equal(await exitCode(t, gateway), 1);
  judgeElapsed(t, begun, 1_000);
});

t.test('an unexpected error ends serve, whatever reads its log', async (t) => {
  const gateway = await serveUnread(t, ['--import', trap]);
  gateway.child.kill('SIGUSR2');
  t.equal(await exitCode(t, gateway), 1);
});

t.test('an unexpected error ends serve after its log’s reader is gone', async (t) => {
  const gateway = await createCommandFolder(t, { shutdown }).serve([], ['--import', trap]);
  gateway.child.stdout!.destroy();
  await gateway.api.send({ path: '/api/open/x' });
  gateway.child.kill('SIGUSR2');
  t.equal(await exitCode(t, gateway), 1);
});

t.test('a log that is read again goes on where it stood still', async (t) => {
  const gateway = await serveUnread(t);
  gateway.child.stdout!.resume();
  await sleep(500);
  gateway.child.kill('SIGTERM');
  t.equal(await exitCode(t, gateway), 0);
  const { stdout } = await gateway.ended;
  const lines = stdout.trimEnd().split('\n');
  t.equal(lines.filter((line) => JSON.parse(line).msg === 'request').length, 300);
});
