import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What `look` gives once it gives something other than undefined or false; that it throws counts as not yet. Rejects
 * after `milliseconds`, with what it threw last as the cause.
 */
export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  milliseconds = 60_000,
): Promise<Exclude<T, undefined | false>> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    let cause: unknown;
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found as Exclude<T, undefined | false>;
    } catch (error) {
      cause = error;
    }
    if (Date.now() > deadline) throw new Error(`not within ${milliseconds} ms: ${what}`, { cause });
    await sleep(5);
  }
}
