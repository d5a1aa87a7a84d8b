import { setTimeout as sleep } from 'node:timers/promises';

/** Times for which responses are awaited, ms. */
interface Waits {
  /** Time for the first response: longer than a store may take. */
  readonly firstMs: number;
  /** Time for the others, once one has come: less than a probe waits. */
  readonly othersMs: number;
}

const waitsOfProbes: Waits = { firstMs: 5_000, othersMs: 500 };

/** The responses of several processes, in their order; null stands for one that failed, or took too long. */
export async function responsesOf<Value>(
  calls: readonly Promise<Value>[],
  { firstMs, othersMs } = waitsOfProbes,
): Promise<(Value | null)[]> {
  const responses: (Value | null)[] = calls.map(() => null);
  const settled = calls.map((call, index) =>
    call.then(
      (value) => {
        responses[index] = value;
      },
      () => {},
    ),
  );
  const all = Promise.all(settled);
  const first = Promise.any(calls).catch(() => {});
  await Promise.race([all, first, after(firstMs)]);
  await Promise.race([all, after(othersMs)]);
  return [...responses];
}

/** Keeps no process alive. */
function after(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}
