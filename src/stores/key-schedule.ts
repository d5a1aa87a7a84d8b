/** The life of a key. Instants are epoch ms by the store's clock. */
export interface ScheduledKey {
  readonly kid: string;
  readonly created: number;
  /** Instant at which it began to sign; null: not yet. */
  readonly signsFrom: number | null;
  /** Instant from which it no longer signs; null: it has not been retired. */
  readonly retired: number | null;
  /** Instant of a request to replace it ahead of schedule; null: there was none. */
  readonly requested: number | null;
  /** Longest validity of what it signs, ms. */
  readonly lifetimeMs: number;
}

/** Durations that determine when the keys of a series are replaced, all in ms. */
export interface KeyTimes {
  /** Time for which a key signs; null: until someone asks to replace it. */
  readonly rotateEveryMs: number | null;
  /** Minimum time for which a key is published before it signs. */
  readonly publishAheadMs: number;
  /** Longest validity of what is signed; null: nothing is signed with keys of this series. */
  readonly lifetimeMs: number | null;
}

/** Changes to the keys of a series, made in one step; keys are named by `kid`. */
export interface KeyTurn {
  /** The kind of new key that is needed: one to sign at once, or the next one; null: none. */
  readonly needs: 'signer' | 'next' | null;
  /** The key that signs from now on; null: no change. */
  readonly start: string | null;
  /** Keys that no longer sign. */
  readonly retire: readonly string[];
  /** Keys whose stored `lifetimeMs` has to grow to the configured one. */
  readonly prolong: readonly string[];
  /** Keys to remove: everything signed with them has expired. */
  readonly drop: readonly string[];
}

/** Largest difference between clocks that is allowed for, ms: a token's times are by the clock of the gateway that signs it. */
export const tokenSkewMs = 60_000;

/**
 * Decides which changes are due in a series of keys at `now`, epoch ms by the store's clock. Pure: replicas decide and apply in
 * one transaction, so all but the first find that nothing is due any more. The order of `keys` doesn't matter.
 */
export function decideTurn(keys: readonly ScheduledKey[], times: KeyTimes, now: number): KeyTurn {
  const { lifetimeMs } = times;
  const drop = keys.filter((key) => now >= endsAt(key)).map(({ kid }) => kid);
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

/** Instant from which the next key will sign, epoch ms; Infinity: no replacement is planned. */
export function turnsAt(keys: readonly ScheduledKey[], times: KeyTimes, now: number): number {
  const signer = signerOf(keys);
  if (signer === undefined) return now;
  const due = dueAt(signer, times);
  const published = nextOf(keys)?.created ?? Math.max(now, publishesAt(signer, times));
  return Math.max(due, published + times.publishAheadMs);
}

/** Instant from which a retired key is no longer needed, epoch ms; Infinity for others. */
export function endsAt({ retired, lifetimeMs }: ScheduledKey): number {
  return retired === null ? Number.POSITIVE_INFINITY : retired + lifetimeMs + tokenSkewMs;
}

/** The key that signs now; of several, the one that began last. */
export function signerOf<K extends ScheduledKey>(keys: readonly K[]): K | undefined {
  return keys
    .filter(signs)
    .toSorted((one, other) => other.signsFrom! - one.signsFrom!)
    .at(0);
}

/** The key that will sign next; of several, the one published first. */
export function nextOf<K extends ScheduledKey>(keys: readonly K[]): K | undefined {
  return keys
    .filter(({ signsFrom, retired }) => signsFrom === null && retired === null)
    .toSorted((one, other) => one.created - other.created)
    .at(0);
}

/** True if a decision changes anything. */
export function isDue({ needs, start, retire, prolong, drop }: KeyTurn): boolean {
  return needs !== null || start !== null || retire.length + prolong.length + drop.length > 0;
}

const nothing: KeyTurn = { needs: null, start: null, retire: [], prolong: [], drop: [] };

function signs({ signsFrom, retired }: ScheduledKey): boolean {
  return signsFrom !== null && retired === null;
}

/** Instant at which the signer should be replaced, epoch ms, whether the next key is ready or not; Infinity: not planned. */
function dueAt({ signsFrom, requested }: ScheduledKey, { rotateEveryMs }: KeyTimes): number {
  const planned = rotateEveryMs === null ? Number.POSITIVE_INFINITY : signsFrom! + rotateEveryMs;
  return Math.min(planned, requested ?? Number.POSITIVE_INFINITY);
}

function publishesAt(signer: ScheduledKey, times: KeyTimes): number {
  return dueAt(signer, times) - times.publishAheadMs;
}

/**
 * Keys to retire in a series that this configuration doesn't use. During a rollout, gateways with another configuration may still
 * use it; but they would have replaced a key within two rotation periods.
 */
function unusedSigners(keys: readonly ScheduledKey[], { rotateEveryMs }: KeyTimes, now: number): string[] {
  if (rotateEveryMs === null) return [];
  return keys
    .filter((key) => key.retired === null && now >= (key.signsFrom ?? key.created) + 2 * rotateEveryMs)
    .map(({ kid }) => kid);
}
