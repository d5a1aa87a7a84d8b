import { setTimeout as sleep } from 'node:timers/promises';
import type { ManagedOutcome, ManagedReading } from '../stores/managed-records.ts';
import type { HandedConfiguration } from './worker-api.ts';
import type { WorkerProcess } from './worker-process.ts';

/** How long a worker may take to build another configuration, ms: longer than a store may take. */
const prepareTimeoutMs = 30_000;

/**
 * Prepares another configuration in every worker; resolves to those that have, without any that ended meanwhile. Rejects,
 * with nothing prepared, if one can't.
 */
export async function prepareIn(
  workers: readonly WorkerProcess[],
  next: HandedConfiguration,
): Promise<readonly WorkerProcess[]> {
  const outcomes = await Promise.allSettled(workers.map((worker) => prepare(worker, next)));
  const prepared = workers.filter((_, index) => outcomes[index]!.status === 'fulfilled');
  const failed = outcomes.find(
    (outcome, index) => outcome.status === 'rejected' && !workers[index]!.hasEnded,
  ) as PromiseRejectedResult | undefined;
  if (failed === undefined && prepared.length > 0) return prepared;
  await discardIn(prepared);
  throw failed?.reason ?? new Error('no worker serves');
}

/** Applies the users and scope sets of what is prepared, in one worker; in another if that ends. */
export async function applyManagedIn(
  workers: readonly WorkerProcess[],
  reading: ManagedReading,
): Promise<ManagedOutcome['outcome']> {
  for (const [index, worker] of workers.entries()) {
    try {
      return await worker.remote.applyManaged(reading);
    } catch (error) {
      if (!worker.hasEnded || index === workers.length - 1) throw error;
    }
  }
  throw new Error('no worker serves');
}

/** Serves by what is prepared. One that can't is not in step any more, and ends: another takes its place. */
export async function applyIn(workers: readonly WorkerProcess[]): Promise<void> {
  await Promise.all(workers.map((worker) => worker.remote.apply().catch(() => worker.kill())));
}

/** Drops what is prepared. */
export async function discardIn(workers: readonly WorkerProcess[]): Promise<void> {
  await Promise.allSettled(workers.map((worker) => worker.remote.discard()));
}

/** For workers that began to serve by the configuration before, while this one was prepared. */
export async function catchUp(workers: readonly WorkerProcess[], next: HandedConfiguration): Promise<void> {
  const following = workers.map(async (worker) => {
    try {
      await prepare(worker, next);
      await worker.remote.apply();
    } catch {
      worker.kill();
    }
  });
  await Promise.all(following);
}

async function prepare(worker: WorkerProcess, next: HandedConfiguration): Promise<void> {
  const tooLate = sleep(prepareTimeoutMs, undefined, { ref: false }).then(() => {
    throw new Error('a worker did not respond');
  });
  await Promise.race([worker.remote.prepare(next), tooLate]);
}
