import { clockToleranceMs } from './steady-clock.ts';

/** The refresh cookies of a session. Instants are epoch milliseconds by the session's clock. */
export interface RotationState {
  /** The generation of the current cookie; sign-in issues 1. */
  readonly generation: number;
  /** The generation that the current cookie replaced; 0: none. */
  readonly previous: number;
  /** When the current cookie was issued. */
  readonly issued: number;
  /** When the current cookie was first presented; null: not yet. Sign-in counts as a presentation. */
  readonly presented: number | null;
}

/** The outcome of presenting a cookie; with `current` the response is the cookie of `state.generation`. */
export type RotationDecision =
  | {
      readonly outcome: 'current';
      readonly state: RotationState;
      /** True if this step started a new generation. */
      readonly rotated: boolean;
    }
  | { readonly outcome: 'reused' }
  | { readonly outcome: 'gone' };

/** The rotation state of a session that has just signed in. */
export function initialRotation(now: number): RotationState {
  return { generation: 1, previous: 0, issued: now, presented: now };
}

/** The time of one session. */
export interface SessionTime {
  /** Epoch ms; never before the session's last use. */
  readonly at: number;
  /** Time by which the store's clock is behind it now, ms: recorded instants are moved back by as much. */
  readonly setBackMs: number;
}

/**
 * Time of a session that was last used at `lastUsed` (epoch ms): the store's, unless its clock has been set back since. Then the
 * session's time goes on as if it had not been, and its instants are moved back to the clock's present time: it rotates as usual,
 * and no grace lasts longer.
 */
export function sessionTime({ now, unbroken }: StoreTime, lastUsed: number, graceMs: number): SessionTime {
  const aheadMs = lastUsed - now;
  if (aheadMs <= 0) return { at: now, setBackMs: 0 };
  if (aheadMs > clockToleranceMs && unbroken >= lastUsed) return { at: unbroken, setBackMs: unbroken - now };
  // Two clocks that differ a little, as those of a former and a present Redis master: it catches up within the grace.
  if (aheadMs < Math.max(graceMs, clockToleranceMs)) return { at: lastUsed, setBackMs: 0 };
  // Set back before this process began: how long ago the session was used is unknown. No request of then is still under
  // way, so nothing needs a grace, and a holder of a cookie from before the last one is someone else.
  return { at: lastUsed + graceMs, setBackMs: aheadMs + graceMs };
}

/** Time of the store's clock, and its time had it not been set back ({@link SteadyClock}); epoch ms. */
export interface StoreTime {
  readonly now: number;
  readonly unbroken: number;
}

/** The same state by a clock that is `ms` behind. */
export function setBack(state: RotationState, ms: number): RotationState {
  const { issued, presented } = state;
  return { ...state, issued: issued - ms, presented: presented === null ? null : presented - ms };
}

/**
 * Decides what presenting the cookie of generation `offered` does to a live session (RFC 9700 §4.14). `now` is the
 * session's time; `graceMs` is how long the current cookie stays unrotated and the previous one is still accepted. Redis decides
 * by the same steps in its script `present.lua`.
 */
export function decideRotation(
  state: RotationState,
  offered: number,
  now: number,
  graceMs: number,
): RotationDecision {
  if (!Number.isSafeInteger(offered) || offered <= 0) return { outcome: 'gone' };
  // The MAC has vouched for it: the store lost the write that issued this cookie.
  if (offered > state.generation)
    return current({ generation: offered, previous: offered - 1, issued: now, presented: now });
  const isWithinGrace = now - Math.max(state.issued, state.presented ?? state.issued) < graceMs;
  if (offered === state.generation) {
    if (state.presented === null) return current({ ...state, presented: now });
    return isWithinGrace ? current(state) : successorOf(state, offered, now);
  }
  if (offered !== state.previous) return { outcome: 'reused' };
  if (isWithinGrace) return current(state);
  // Never presented: its response was lost. A new one is issued instead of repeating it: otherwise a thief and the
  // owner who refresh in step would each confirm the other's cookie, and the theft would never be detected.
  return state.presented === null ? successorOf(state, offered, now) : { outcome: 'reused' };
}

function successorOf({ generation }: RotationState, offered: number, now: number): RotationDecision {
  return {
    outcome: 'current',
    state: { generation: generation + 1, previous: offered, issued: now, presented: null },
    rotated: true,
  };
}

function current(state: RotationState): RotationDecision {
  return { outcome: 'current', state, rotated: false };
}
