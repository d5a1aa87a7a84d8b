import { costOfPasswordHash } from '../rules/password-hash.ts';
import type { Awaitable } from '../stores/awaitable.ts';

/** Time for which the costs read from the store are used, ms. */
const maxAgeMs = 60_000;

/** Lists every cost in use, as returned by {@link costOf}; that of `hash`, the hash just checked, is among them. */
export type PasswordCosts = (hash: string | null) => Promise<ReadonlySet<string>>;

/**
 * The prefix of a password hash that determines the cost of a check, in one spelling; undefined for other strings. Takes
 * hashes and their prefixes.
 */
export function costOf(hash: string): string | undefined {
  return costOfPasswordHash(hash)?.prefix;
}

/**
 * Creates the list: `configured` is the cost of new hashes, `stored` reads the prefixes of the stored ones. They are
 * read again after a minute; if that fails, the known costs stay.
 */
export function createPasswordCosts(
  configured: string,
  stored: () => Awaitable<readonly string[]>,
): PasswordCosts {
  let costs = new Set([configured]);
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    try {
      const known = (await stored()).map(costOf).filter((cost) => cost !== undefined);
      costs = new Set([configured, ...known]);
    } catch {
      // A sign-in that needs the store fails on its own.
    }
    readAt = performance.now();
    reading = null;
  }

  return async (hash) => {
    if (performance.now() - readAt >= maxAgeMs) reading ??= read();
    await reading;
    const cost = hash === null ? undefined : costOf(hash);
    // Written since the costs were read, by a process with another configuration.
    if (cost !== undefined) costs.add(cost);
    return costs;
  };
}
