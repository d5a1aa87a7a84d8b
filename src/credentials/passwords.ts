import { costOfPasswordHash } from '../rules/password-hash.ts';
import { maxPasswordBytes } from '../rules/text-limits.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import { dummyHash, loadArgon2, verifyPasswordHash } from './password-hashes.ts';
import { createWorkQueue, type WorkLoad } from './work-queue.ts';

/** The result of checking a password; `rehash`: it is correct, but its hash has other parameters than are configured now. */
export interface PasswordVerdict {
  readonly ok: boolean;
  readonly rehash: boolean;
}

/** Hashes and checks passwords off the event loop. Both reject with Refusal `overloaded` when the queue is full. */
export interface PasswordHasher {
  /** argon2id in PHC form, of a password that {@link parsePassword} returned. */
  hash(password: string): Promise<string>;
  /**
   * Checks a password, which may be any text, against a hash. With `phc` null (no such account, or no password) the result is
   * negative. Every negative result costs the same, one check at each cost in use: otherwise accounts whose hash has an earlier
   * cost could be identified by timing.
   */
  verify(phc: string | null, password: string): Promise<PasswordVerdict>;
  /** Counts of running and waiting hashes. */
  load(): WorkLoad;
}

/** Time for which the costs read from the store are used, ms. */
const maxCostsAgeMs = 60_000;
/** Maximum length before NFC, in UTF-16 units: NFC never turns 1.5 of them into less than one UTF-8 byte. */
const maxRawLength = 2 * maxPasswordBytes;

/** The password as hashed: NFC, at least `minLength` code points, at most 1,024 bytes; otherwise the problem. */
export function parsePassword(
  raw: string,
  minLength: number,
): string | { readonly problem: 'malformed_unicode' | 'too_short' | 'too_long' } {
  if (!raw.isWellFormed()) return { problem: 'malformed_unicode' };
  // Before NFC, which takes quadratic time on a run of combining marks.
  if (raw.length > maxRawLength) return { problem: 'too_long' };
  const password = raw.normalize('NFC');
  if (Buffer.byteLength(password) > maxPasswordBytes) return { problem: 'too_long' };
  return [...password].length < minLength ? { problem: 'too_short' } : password;
}

/** Creates the hasher, with the cost of a new hash and bounds on concurrent hashing. */
export function createPasswordHasher(options: {
  /** Memory of one hash, in bytes (argon2 counts KiB: rounded down). */
  readonly memoryBytes: number;
  readonly iterations: number;
  readonly parallelism: number;
  /** Maximum number of hashes computed at the same time, each on its own thread. */
  readonly concurrency: number;
  /** Maximum number of hashes that wait. */
  readonly queue: number;
  /** The prefixes of the stored hashes, for their costs; default: the configured cost only. */
  readonly storedHashes?: () => Awaitable<readonly string[]>;
}): PasswordHasher {
  const queue = createWorkQueue(options);
  const cost = {
    // argon2id (RFC 9106 §3.1)
    type: 2,
    memoryCost: Math.floor(options.memoryBytes / 1024),
    timeCost: options.iterations,
    parallelism: options.parallelism,
  } as const;
  const { memoryCost, timeCost, parallelism } = cost;
  const costs = createPasswordCosts(
    `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`,
    options.storedHashes ?? (() => []),
  );
  const dummies = new Map<string, string>();

  /** A dummy hash of that cost, for checks without a real one. */
  function dummyOf(cost: string): string {
    let dummy = dummies.get(cost);
    if (dummy === undefined) {
      dummy = dummyHash(cost);
      dummies.set(cost, dummy);
    }
    return dummy;
  }

  async function judge(hash: string | null, password: string): Promise<PasswordVerdict> {
    if (hash !== null && (await verifyPasswordHash(hash, password))) {
      const { needsRehash } = await loadArgon2();
      return { ok: true, rehash: !hash.startsWith('$argon2id$') || needsRehash(hash, cost) };
    }
    const own = hash === null ? undefined : costOf(hash);
    for (const other of [...(await costs(hash))].filter((candidate) => candidate !== own))
      await verifyPasswordHash(dummyOf(other), '');
    return { ok: false, rehash: false };
  }

  return {
    hash: (password) => queue.run(async () => (await loadArgon2()).hash(password, cost)),
    verify(phc, raw) {
      const password = parsePassword(raw, 0);
      return queue.run(() => (typeof password === 'string' ? judge(phc, password) : judge(null, '')));
    },
    load: queue.load,
  };
}

/**
 * The prefix of a password hash, in one spelling, that determines the cost of a check; undefined for other strings. `hash` may
 * also be such a prefix.
 */
export function costOf(hash: string): string | undefined {
  return costOfPasswordHash(hash)?.prefix;
}

/**
 * Creates a function that returns every cost in use, in the form of {@link costOf}, including that of `hash`, the hash just
 * checked (null: none). `configured` is the cost of new hashes; `stored` reads the prefixes of the stored ones, again after a
 * minute. If that fails, the known costs stay.
 */
export function createPasswordCosts(
  configured: string,
  stored: () => Awaitable<readonly string[]>,
): (hash: string | null) => Promise<ReadonlySet<string>> {
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
    if (performance.now() - readAt >= maxCostsAgeMs) reading ??= read();
    await reading;
    const cost = hash === null ? undefined : costOf(hash);
    // Written since the costs were read, by a process with another configuration.
    if (cost !== undefined) costs.add(cost);
    return costs;
  };
}
