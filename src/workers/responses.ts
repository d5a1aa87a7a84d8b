import { setTimeout as sleep } from 'node:timers/promises';

/** How long responses are waited for, ms. */
interface Waits {
  /** For the others, once one has responded: less than a probe waits. */
  readonly patienceMs: number;
  /** For the first one: longer than a store may take. */
  readonly longestMs: number;
}

const waitsOfProbes: Waits = { patienceMs: 500, longestMs: 5_000 };

/** The responses of several processes, in their order; null stands for one that failed, or took too long. */
export async function responsesOf<Value>(
  calls: readonly Promise<Value>[],
  { patienceMs, longestMs } = waitsOfProbes,
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
  await Promise.race([all, first, after(longestMs)]);
  await Promise.race([all, after(patienceMs)]);
  return [...responses];
}

/** Keeps no process alive. */
function after(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}
