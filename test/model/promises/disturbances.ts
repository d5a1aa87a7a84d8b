import type { Instant } from './register.ts';

/**
 * What a fault takes away. Gateways are named by their index. `locks`: a gateway that stands still in the middle of a change
 * holds the others' changes up (docs/failures.md).
 */
export type Disturbed = 'records' | 'sessions' | 'locks' | `gateway ${number}`;

/** A fault while it lasts. */
export interface Disturbance {
  readonly kind: string;
  readonly disturbed: readonly Disturbed[];
  readonly from: Instant;
  /** Infinite while it lasts. */
  to: Instant;
}

/** A stretch of time. */
export interface Stretch {
  readonly from: Instant;
  readonly to: Instant;
}

/** How long after a fault "back to normal within 2 s of its return" (docs/failures.md) gives a gateway. */
const recoveryMs = 2_000;
/** After everything is well again, no request that was lost takes effect any more. */
const settlingMs = 3_000;

/** The faults of a run, and the stretches in which the machine itself did not keep up. */
export class Disturbances {
  readonly all: Disturbance[] = [];
  readonly #stalls: Stretch[] = [];
  readonly #recoveryMs: number;

  /** `slowness`: by how much promised times may be exceeded on a busy machine; 1: not at all. */
  constructor(slowness = 1) {
    this.#recoveryMs = recoveryMs * slowness;
  }

  begin(kind: string, disturbed: readonly Disturbed[], from: Instant): Disturbance {
    const disturbance = { kind, disturbed, from, to: Number.POSITIVE_INFINITY };
    this.all.push(disturbance);
    return disturbance;
  }

  /** The machine stood still, or this process did: whatever was promised by then may be that much later. */
  stalled(stall: Stretch): void {
    this.#stalls.push(stall);
  }

  /** For how long it stood still in that time, ms. */
  stalledMs(from: Instant, to: Instant): number {
    let ms = 0;
    for (const stall of recent(this.#stalls, from))
      ms += Math.max(0, Math.min(to, stall.to) - Math.max(from, stall.from));
    return ms;
  }

  /** Whether any of those was away, or coming back, at some instant of that time. */
  touches(what: readonly Disturbed[], from: Instant, to: Instant): boolean {
    return this.all.some(
      (fault) => concerns(fault, what) && fault.from <= to && fault.to + this.#recoveryMs >= from,
    );
  }

  /** Since when one of those was away or coming back without a pause, at that instant; undefined: it is well. */
  awaySince(what: readonly Disturbed[], at: Instant): Instant | undefined {
    let since: Instant | undefined;
    let edge = at;
    const faults = this.all.filter((fault) => concerns(fault, what) && fault.from <= at);
    for (const { from, to } of faults.toSorted((a, b) => b.to - a.to)) {
      if (to + this.#recoveryMs < edge) continue;
      since = Math.min(since ?? from, from);
      edge = Math.min(edge, from);
    }
    return since;
  }

  /** The last instant at which a request without a known outcome, given up at `at`, may still take effect. */
  settledAfter(at: Instant): Instant {
    let settled = at + settlingMs;
    for (const { from, to } of this.all)
      if (from <= settled && to + settlingMs > settled) settled = to + settlingMs;
    return settled;
  }

  /** The faults that were there at some instant of that time. */
  during(from: Instant, to: Instant): Disturbance[] {
    return this.all.filter((fault) => fault.from <= to && fault.to + this.#recoveryMs >= from);
  }
}

function concerns(fault: Disturbance, what: readonly Disturbed[]): boolean {
  return fault.disturbed.some((one) => what.includes(one));
}

/** Those that may reach beyond `from`, of stretches in the order of their ends. */
function recent(stretches: readonly Stretch[], from: Instant): readonly Stretch[] {
  let index = stretches.length;
  while (index > 0 && stretches[index - 1]!.to >= from) index--;
  return stretches.slice(index);
}
