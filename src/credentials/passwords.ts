import { randomBytes } from 'node:crypto';
import argon2 from 'argon2';
import { maxPasswordBytes } from '../rules/text-limits.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import { costOf, createPasswordCosts } from './password-costs.ts';
import { createWorkQueue, type WorkLoad } from './work-queue.ts';

/** Cost of a password hash and bounds on how much of it goes on at a time. */
export interface PasswordHasherOptions {
  /** Memory of one hash, in bytes (argon2 counts KiB: rounded down). */
  readonly memoryBytes: number;
  readonly iterations: number;
  readonly parallelism: number;
  /** How many hashes run at a time, each on a thread of its own. */
  readonly concurrency: number;
  /** How many more may wait. */
  readonly queue: number;
  /** The beginnings of the hashes that are stored, for their costs; default none but those of now. */
  readonly storedHashes?: () => Awaitable<readonly string[]>;
}

/** What checking a password came to; `rehash`: right, but kept with other parameters than are configured now. */
export interface PasswordVerdict {
  readonly ok: boolean;
  readonly rehash: boolean;
}

/** Hashes and checks passwords off the event loop. Both reject with Refusal `overloaded` when the queue is full. */
export interface PasswordHasher {
  /** argon2id in PHC form, of what {@link parsePassword} gave. */
  hash(password: string): Promise<string>;
  /**
   * Takes any text. `phc` null (no such account, no password): the response is no. Every no costs the same: one check at
   * each cost that hashes are stored at, or accounts whose hash is of an earlier cost could be told from others.
   */
  verify(phc: string | null, password: string): Promise<PasswordVerdict>;
  /** How many hashes run and wait now. */
  load(): WorkLoad;
}

/** Why a text can't be a password. */
export interface PasswordProblem {
  readonly problem: 'malformed_unicode' | 'too_short' | 'too_long';
}

/** NFC never makes fewer than one UTF-8 byte of one and a half UTF-16 units: what is longer than this is too long. */
const maxRawLength = 2 * maxPasswordBytes;

/** The password as it is hashed: NFC, at least `minLength` code points, at most 1,024 bytes; else the problem. */
export function parsePassword(raw: string, minLength: number): string | PasswordProblem {
  if (!raw.isWellFormed()) return { problem: 'malformed_unicode' };
  // Before NFC, which takes time in the square of the length of a run of combining marks.
  if (raw.length > maxRawLength) return { problem: 'too_long' };
  const password = raw.normalize('NFC');
  if (Buffer.byteLength(password) > maxPasswordBytes) return { problem: 'too_long' };
  return [...password].length < minLength ? { problem: 'too_short' } : password;
}

/** Creates the hasher. */
export function createPasswordHasher(options: PasswordHasherOptions): PasswordHasher {
  const queue = createWorkQueue(options);
  const cost = {
    type: argon2.argon2id,
    memoryCost: Math.floor(options.memoryBytes / 1024),
    timeCost: options.iterations,
    parallelism: options.parallelism,
  } as const;
  const { memoryCost, timeCost, parallelism } = cost;
  const costs = createPasswordCosts(
    `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`,
    options.storedHashes ?? (() => []),
  );
  const standIns = new Map<string, string>();

  /** In the place of a hash where there is none: it costs the same to check against, and cost nothing to make. */
  function standInOf(cost: string): string {
    let standIn = standIns.get(cost);
    if (standIn === undefined) {
      standIn = `${cost}${random(16)}$${random(32)}`;
      standIns.set(cost, standIn);
    }
    return standIn;
  }

  async function judge(hash: string | null, password: string): Promise<PasswordVerdict> {
    if (hash !== null && (await argon2.verify(hash, password)))
      return { ok: true, rehash: !hash.startsWith('$argon2id$') || argon2.needsRehash(hash, cost) };
    const own = hash === null ? undefined : costOf(hash);
    for (const other of [...(await costs.all(hash))].filter((candidate) => candidate !== own))
      await argon2.verify(standInOf(other), '');
    return { ok: false, rehash: false };
  }

  async function verify(phc: string | null, raw: string): Promise<PasswordVerdict> {
    const password = parsePassword(raw, 0);
    return queue.run(() => (typeof password === 'string' ? judge(phc, password) : judge(null, '')));
  }

  return {
    hash: (password) => queue.run(() => argon2.hash(password, cost)),
    verify,
    load: queue.load,
  };
}

/** In base64 without padding, as PHC strings have it. */
function random(bytes: number): string {
  return randomBytes(bytes).toString('base64').replace(/=+$/, '');
}
