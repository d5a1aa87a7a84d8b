import { hash } from 'node:crypto';
import { Refusal } from '../errors.ts';
import type { AttemptLimit, Attempts } from '../stores/attempts.ts';
import { addressKey } from './address-key.ts';

/** An attempt that has been counted. */
export interface CountedAttempt {
  /**
   * Removes the attempt from the count, because it succeeded or was never judged; a second call does nothing. While the store is
   * unavailable, the attempt stays counted until its window ends, and no error is thrown.
   */
  giveBack(): Promise<void>;
}

/** Failed sign-ins allowed in a window. */
export interface LoginLimits {
  readonly perAccountAndAddress: number;
  readonly perAccount: number;
  readonly perAddress: number;
  readonly windowMs: number;
}

/** Counts attempts to sign in. */
export interface LoginThrottle {
  /** Counts an attempt; `canonicalName` is of account-name.ts. Rejects with {@link Refusal} `too_many_attempts` over a limit. */
  attempt(canonicalName: string, address: string): Promise<CountedAttempt>;
  /** Finds the failures counted against an account, from all addresses. */
  stateOf(canonicalName: string): Promise<{
    readonly failures: number;
    /** Time until the last window ends, ms; null: nothing is counted. */
    readonly remainingMs: number | null;
    /** True if sign-ins are refused, from anywhere or from an address with too many failures. */
    readonly isRefusing: boolean;
  }>;
  /** Forgets the failures counted against an account, but not those against addresses. */
  lift(canonicalName: string): Promise<void>;
}

/** Counts attempts to present a token, by address. */
export interface AddressThrottle {
  /** Counts an attempt. Rejects with {@link Refusal} `too_many_attempts` over the limit. */
  attempt(address: string): Promise<CountedAttempt>;
}

/** Creates the throttle of sign-ins (per account and address, per address, per account). */
export function createLoginThrottle(attempts: Attempts, limits: LoginLimits): LoginThrottle {
  return {
    attempt(canonicalName, address) {
      const group = groupOf(canonicalName);
      const source = addressKey(address);
      // The address comes first: once it is over its limit, its attempts are counted nowhere else. The account comes last:
      // an address over one of its limits can't use up the account's limit as well.
      return count(attempts, limits.windowMs, [
        { key: `login:address:${source}`, points: limits.perAddress },
        { group, key: `${pair}${source}`, points: limits.perAccountAndAddress },
        { group, key: account, points: limits.perAccount },
      ]);
    },
    async stateOf(canonicalName) {
      const counters = await attempts.findAttempts(groupOf(canonicalName));
      const ofAccount = counters.find(({ key }) => key === account)?.count ?? 0;
      const ofPairs = counters.filter(({ key }) => key.startsWith(pair)).map(({ count }) => count);
      const fromPairs = ofPairs.reduce((sum, count) => sum + count, 0);
      return {
        failures: Math.max(ofAccount, fromPairs),
        remainingMs:
          counters.length === 0 ? null : Math.max(...counters.map(({ remainingMs }) => remainingMs)),
        isRefusing:
          ofAccount >= limits.perAccount || ofPairs.some((count) => count >= limits.perAccountAndAddress),
      };
    },
    lift: (canonicalName) => attempts.liftAttempts(groupOf(canonicalName)),
  };
}

const account = 'account';
const pair = 'pair:';

/** The counters of an account. The name is hashed, so that keys have a bounded length and the store contains no names. */
function groupOf(canonicalName: string): string {
  return `login:name:${hash('sha256', canonicalName, 'base64url')}`;
}

/** Creates the throttle of one kind of token, which counts separately from the other kind and from sign-ins. */
export function createAddressThrottle(
  subject: 'bootstrap' | 'invitation',
  attempts: Attempts,
  limits: Pick<LoginLimits, 'perAddress' | 'windowMs'>,
): AddressThrottle {
  return {
    attempt: (address) =>
      count(attempts, limits.windowMs, [
        { key: `${subject}:address:${addressKey(address)}`, points: limits.perAddress },
      ]),
  };
}

async function count(
  attempts: Attempts,
  windowMs: number,
  limits: readonly AttemptLimit[],
): Promise<CountedAttempt> {
  const outcome = await attempts.count(limits, windowMs);
  if (!outcome.allowed) {
    throw new Refusal('too_many_attempts', {
      retryAfterSeconds: Math.max(1, Math.ceil(outcome.retryAfterMs / 1000)),
    });
  }
  let counted = true;
  return {
    async giveBack() {
      if (!counted) return;
      counted = false;
      await attempts.giveBack(limits, windowMs).catch((error: unknown) => {
        if (!(error instanceof Refusal && error.code === 'store_unavailable')) throw error;
      });
    },
  };
}
