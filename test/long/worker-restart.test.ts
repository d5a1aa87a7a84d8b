import t, { type Test } from 'tap';
import { openAskingClients } from '../support/clients/asking-clients.ts';
import { eventually } from '../support/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { readyz, workersOf } from '../support/gateway/worker-processes.ts';

const rounds = isLong ? 7 : 1;
/** By how much a start under load may take longer; judged in the full size alone. */
const mostMoreMs = 1_000;
const clients = 64;

t.setTimeout(300_000);

/** Kills one of two workers; gives how long it takes until another serves in its place, ms. */
async function restartMs({ pid, managementPort }: GatewayProcess): Promise<number> {
  const [victim] = workersOf(pid!);
  const sinceMs = performance.now();
  process.kill(victim!, 'SIGKILL');
  await eventually('another worker', async () => {
    const workers = workersOf(pid!);
    return (
      workers.length === 2 && !workers.includes(victim!) && (await readyz(managementPort)).workers.ready === 2
    );
  });
  return performance.now() - sinceMs;
}

/** Of gateways of which nothing has ended before: a worker that ends again and again has to wait. */
async function medianRestartMs(t: Test, when: string, clients: number): Promise<number> {
  const took: number[] = [];
  for (let round = 1; round <= rounds; round++)
    await t.test(`${when}, ${round}`, async (t) => {
      const gateway = await startGatewayProcess(t, { config: { workers: 2 } });
      const asking = await openAskingClients(t, gateway.port, clients);
      await eventually('a response each', () => asking.every(({ responses }) => responses() > 0));
      took.push(await restartMs(gateway));
      const broken = asking.filter(({ isBroken }) => isBroken()).length;
      t.ok(clients === 0 || (broken > 0 && broken < clients), `${broken} of ${clients} connections broke`);
    });
  took.sort((a, b) => a - b);
  t.comment(`${when}: ${took.map(Math.round).join(', ')} ms`);
  return took[rounds >> 1]!;
}

t.test('a worker that is killed under load is replaced nearly as soon as without', async (t) => {
  const idleMs = await medianRestartMs(t, 'without load', 0);
  const busyMs = await medianRestartMs(t, 'under load', clients);
  if (isLong) t.ok(busyMs <= idleMs + mostMoreMs, `${Math.round(busyMs - idleMs)} ms more under load`);
});
