import { randomBytes } from 'node:crypto';
import argon2 from 'argon2';
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
  /** Takes any text. `phc` null (no such account, no password): the same work, and the answer is no. */
  verify(phc: string | null, password: string): Promise<PasswordVerdict>;
  /** How many hashes run and wait now. */
  load(): WorkLoad;
}

/** Why a text can't be a password. */
export interface PasswordProblem {
  readonly problem: 'malformed_unicode' | 'too_short' | 'too_long';
}

const maxPasswordBytes = 1024;
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
  // In the place of a hash where there is none: it costs the same to check against, and cost nothing to make.
  const { memoryCost, timeCost, parallelism } = cost;
  const standIn = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${random(16)}$${random(32)}`;

  async function verify(phc: string | null, raw: string): Promise<PasswordVerdict> {
    const password = parsePassword(raw, 0);
    if (phc === null || typeof password !== 'string') {
      // Who is told no must not learn from the time it took that there was nothing to compare.
      await queue.run(() => argon2.verify(standIn, ''));
      return { ok: false, rehash: false };
    }
    const ok = await queue.run(() => argon2.verify(phc, password));
    return { ok, rehash: ok && (!phc.startsWith('$argon2id$') || argon2.needsRehash(phc, cost)) };
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
