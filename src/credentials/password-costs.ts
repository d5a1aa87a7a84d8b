import { costOfPasswordHash } from '../rules/password-hash.ts';
import type { Awaitable } from '../stores/awaitable.ts';

/** Time for which the costs read from the store are used, ms. */
const maxAgeMs = 60_000;

/** The cost of new password hashes, and the costs of stored ones. */
export interface PasswordCosts {
  /** Every cost in use, as returned by {@link costOf}; always includes that of `hash`, the hash just checked. */
  all(hash: string | null): Awaitable<ReadonlySet<string>>;
}

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
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;

  async function ask(): Promise<void> {
    try {
      const known = (await stored()).map(costOf).filter((cost) => cost !== undefined);
      costs = new Set([configured, ...known]);
    } catch {
      // A sign-in that needs the store fails on its own.
    } finally {
      askedAt = performance.now();
      asking = null;
    }
  }

  function withCostOf(hash: string | null): ReadonlySet<string> {
    const cost = hash === null ? undefined : costOf(hash);
    // Written since the costs were read, by a process with another configuration.
    if (cost !== undefined) costs.add(cost);
    return costs;
  }

  return {
    all(hash) {
      if (asking === null && performance.now() - askedAt < maxAgeMs) return withCostOf(hash);
      asking ??= ask();
      return asking.then(() => withCostOf(hash));
    },
  };
}
