import { setTimeout as sleep } from 'node:timers/promises';
import type { ManagedOutcome, ManagedReading } from '../stores/managed-records.ts';
import type { HandedConfiguration } from './worker-api.ts';
import type { WorkerProcess } from './worker-process.ts';

/** Time that a worker may take for one step, ms: longer than a store may take. */
const stepTimeoutMs = 8_000;

class NoResponse extends Error {
  constructor() {
    super('a worker did not respond');
    this.name = 'NoResponse';
  }
}

/**
 * Prepares another configuration in every worker; resolves to the workers that have, without those that ended or don't respond.
 * Rejects, with nothing prepared, if a worker can't prepare it or none responds.
 */
export async function prepareIn(
  workers: readonly WorkerProcess[],
  next: HandedConfiguration,
): Promise<readonly WorkerProcess[]> {
  const outcomes = await Promise.allSettled(workers.map((worker) => inTime(worker.remote.prepare(next))));
  const prepared = workers.filter((_, index) => outcomes[index]!.status === 'fulfilled');
  const reasons = outcomes.flatMap((outcome, index) =>
    outcome.status === 'rejected' && !workers[index]!.hasEnded ? [outcome.reason as unknown] : [],
  );
  const failure = reasons.find((reason) => !(reason instanceof NoResponse));
  if (failure === undefined && prepared.length > 0) return prepared;
  await discardIn(prepared);
  throw failure ?? reasons[0] ?? new Error('no worker serves');
}

/** Applies the users and scope sets of the prepared configuration, in one worker; in another if that one ends. */
export async function applyManagedIn(
  workers: readonly WorkerProcess[],
  reading: ManagedReading,
): Promise<ManagedOutcome['outcome']> {
  for (const [index, worker] of workers.entries()) {
    try {
      return await inTime(worker.remote.applyManaged(reading));
    } catch (error) {
      if (!worker.hasEnded || index === workers.length - 1) throw error;
    }
  }
  throw new Error('no worker serves');
}

/** Serves by the prepared configuration. A worker that can't is out of step, and is killed: another takes its place. */
export async function applyIn(workers: readonly WorkerProcess[]): Promise<void> {
  await Promise.all(workers.map((worker) => inTime(worker.remote.apply()).catch(() => worker.kill())));
}

/** Drops the prepared configuration. */
export async function discardIn(workers: readonly WorkerProcess[]): Promise<void> {
  await Promise.allSettled(workers.map((worker) => worker.remote.discard()));
}

/** Brings workers up to date that began to serve the previous configuration while this one was prepared. */
export async function catchUp(workers: readonly WorkerProcess[], next: HandedConfiguration): Promise<void> {
  const following = workers.map(async (worker) => {
    try {
      await inTime(worker.remote.prepare(next));
      await inTime(worker.remote.apply());
    } catch {
      worker.kill();
    }
  });
  await Promise.all(following);
}

/** The response; rejects with {@link NoResponse} if it takes too long. */
async function inTime<T>(response: Promise<T>): Promise<T> {
  const tooLate = sleep(stepTimeoutMs, undefined, { ref: false }).then(() => {
    throw new NoResponse();
  });
  return Promise.race([response, tooLate]);
}
