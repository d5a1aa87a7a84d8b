import { setTimeout as sleep } from 'node:timers/promises';

const waitsOfProbes = {
  /** Time for the first response, ms: longer than a store may take. */
  firstMs: 5_000,
  /** Time for the others, once one has come, ms: less than a probe waits. */
  othersMs: 500,
};

/** The responses of several processes, in their order; null stands for one that failed, or took too long. */
export async function responsesOf<Value>(
  calls: readonly Promise<Value>[],
  { firstMs, othersMs } = waitsOfProbes,
): Promise<(Value | null)[]> {
  const responses: (Value | null)[] = calls.map(() => null);
  const settled = calls.map(async (call, index) => {
    responses[index] = await call;
  });
  const all = Promise.allSettled(settled);
  const first = Promise.any(calls).catch(() => {});
  await Promise.race([all, first, after(firstMs)]);
  await Promise.race([all, after(othersMs)]);
  return [...responses];
}

/** Resolves after `ms`; the timer does not keep the process alive. */
function after(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}
