import type { Awaitable } from '../stores/awaitable.ts';

/** How old what is known of the store may be, ms. */
const maxAgeMs = 60_000;

/** The costs at which passwords are hashed, and those at which stored hashes still are. */
export interface PasswordCosts {
  /** Every cost there is, as {@link costOf} gives it; that of `hash`, the hash just checked, is always among them. */
  all(hash: string | null): Awaitable<ReadonlySet<string>>;
}

const parameters =
  /^\$(argon2(?:id|i|d))\$v=(\d{1,3})\$m=(\d{1,9}),(?:t=(\d{1,9}),p=(\d{1,9})|p=(\d{1,9}),t=(\d{1,9}))\$/;

/** The beginning of a PHC string (argon2), in one spelling, as far as it says what a check costs; else undefined. */
export function costOf(phc: string): string | undefined {
  const [, kind, version, memory, t, p, otherP, otherT] = parameters.exec(phc) ?? [];
  return kind === undefined
    ? undefined
    : `$${kind}$v=${version}$m=${memory},t=${t ?? otherT},p=${p ?? otherP}$`;
}

/**
 * Creates the list: `configured` is what hashes are made at now, `stored` asks the store for the beginnings of its
 * hashes. It is asked again after a minute; when it fails, what was known stays.
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
      // What the sign-in itself needs of the store fails by itself.
    } finally {
      askedAt = performance.now();
      asking = null;
    }
  }

  function withCostOf(hash: string | null): ReadonlySet<string> {
    const cost = hash === null ? undefined : costOf(hash);
    // Written since the store was asked, by a process that is configured in another way.
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
