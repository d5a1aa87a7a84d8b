import type { SigningKey } from './signing-key.ts';

/** What the schedule reads of a key. */
export type ScheduledKey = Pick<
  SigningKey,
  'kid' | 'created' | 'signsFrom' | 'retired' | 'requested' | 'lifetimeMs'
>;

/** When the keys of a series are replaced; all in ms. */
export interface KeyTimes {
  /** How long a key signs; null: until someone wants another one. */
  readonly rotateEveryMs: number | null;
  /** How long a key is published at least before it signs. */
  readonly publishAheadMs: number;
  /** How long what is signed may be valid; null: nothing is signed with keys of this series. */
  readonly lifetimeMs: number | null;
}

/** What is to be done to the keys of a series, in one step. */
export interface KeyTurn {
  /** A new key is needed: one that signs at once, or the next. */
  readonly needs: 'signer' | 'next' | null;
  /** The key to sign from now on. */
  readonly start: string | null;
  /** Keys that sign no more. */
  readonly retire: readonly string[];
  /** Keys that will be needed for longer than is noted, because what is signed lives longer now. */
  readonly prolong: readonly string[];
  /** Keys that nothing valid is signed with. */
  readonly drop: readonly string[];
}

/** How far the clocks of a gateway and of the store may be apart, ms: by the gateway's, what it signs expires. */
const clockToleranceMs = 60_000;

/**
 * Decides what is due in a series of keys at `now`, by the store's clock: a pure function, so that a replica that
 * applies it in one transaction finds it done if another was first. The order of `keys` doesn't matter.
 */
export function decideTurn(keys: readonly ScheduledKey[], times: KeyTimes, now: number): KeyTurn {
  const { lifetimeMs } = times;
  const drop = keys.filter((key) => isDead(key, now)).map(({ kid }) => kid);
  if (lifetimeMs === null) return { ...nothing, drop, retire: unusedSigners(keys, times, now) };
  const prolong = keys
    .filter((key) => key.lifetimeMs < lifetimeMs && !drop.includes(key.kid))
    .map(({ kid }) => kid);
  const signer = signerOf(keys);
  const next = nextOf(keys);
  if (signer === undefined)
    return { ...nothing, drop, prolong, needs: next ? null : 'signer', start: next?.kid ?? null };
  if (next === undefined)
    return { ...nothing, drop, prolong, needs: now >= publishesAt(signer, times) ? 'next' : null };
  if (now < turnsAt(keys, times, now)) return { ...nothing, drop, prolong };
  const retire = keys.filter(signs).map(({ kid }) => kid);
  return { ...nothing, drop, prolong, start: next.kid, retire };
}

/** When the next key will sign, epoch ms; Infinity: nothing is planned. */
export function turnsAt(keys: readonly ScheduledKey[], times: KeyTimes, now: number): number {
  const signer = signerOf(keys);
  if (signer === undefined) return now;
  const due = dueAt(signer, times);
  const published = nextOf(keys)?.created ?? Math.max(now, publishesAt(signer, times));
  return Math.max(due, published + times.publishAheadMs);
}

/** When a retired key is no longer needed, epoch ms; Infinity for others. */
export function endsAt({ retired, lifetimeMs }: ScheduledKey): number {
  return retired === null ? Number.POSITIVE_INFINITY : retired + lifetimeMs + clockToleranceMs;
}

/** The key that signs now: of several, the one that began last. */
export function signerOf<K extends ScheduledKey>(keys: readonly K[]): K | undefined {
  return keys
    .filter(signs)
    .toSorted((one, other) => other.signsFrom! - one.signsFrom!)
    .at(0);
}

/** The key that will sign next: of several, the one that has been published for longest. */
export function nextOf<K extends ScheduledKey>(keys: readonly K[]): K | undefined {
  return keys
    .filter(({ signsFrom, retired }) => signsFrom === null && retired === null)
    .toSorted((one, other) => one.created - other.created)
    .at(0);
}

/** Whether a decision changes anything. */
export function isDue({ needs, start, retire, prolong, drop }: KeyTurn): boolean {
  return needs !== null || start !== null || retire.length + prolong.length + drop.length > 0;
}

const nothing: KeyTurn = { needs: null, start: null, retire: [], prolong: [], drop: [] };

function signs({ signsFrom, retired }: ScheduledKey): boolean {
  return signsFrom !== null && retired === null;
}

function isDead(key: ScheduledKey, now: number): boolean {
  return now >= endsAt(key);
}

/** When the signer's time is over; that the next one may not be ready doesn't count. */
function dueAt({ signsFrom, requested }: ScheduledKey, { rotateEveryMs }: KeyTimes): number {
  const planned = rotateEveryMs === null ? Number.POSITIVE_INFINITY : signsFrom! + rotateEveryMs;
  return Math.min(planned, requested ?? Number.POSITIVE_INFINITY);
}

function publishesAt(signer: ScheduledKey, times: KeyTimes): number {
  return dueAt(signer, times) - times.publishAheadMs;
}

/**
 * Signers of a series that this configuration doesn't use. Others that share the store may, during a rollout; but
 * they would have replaced a key by the time that another one would be due.
 */
function unusedSigners(keys: readonly ScheduledKey[], { rotateEveryMs }: KeyTimes, now: number): string[] {
  if (rotateEveryMs === null) return [];
  return keys
    .filter((key) => key.retired === null && now >= (key.signsFrom ?? key.created) + 2 * rotateEveryMs)
    .map(({ kid }) => kid);
}
