import { clockToleranceMs } from './steady-clock.ts';

/** The state of a session's refresh cookies. Instants are epoch milliseconds by the store's clock: see {@link sessionTime}. */
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

/** The outcome of presenting a cookie; with `current`, the response sets the cookie of `state.generation`. */
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

/** The present time of one session. */
export interface SessionTime {
  /** Epoch ms; never before the session's last use. */
  readonly at: number;
  /** Time by which the store's clock is now behind `at`, ms: recorded instants are moved back by as much. */
  readonly setBackMs: number;
}

/**
 * The present time of a session that was last used at `lastUsed` (epoch ms): that of the store's clock, unless this has been set
 * back since. Then the session's time goes on as if the clock had not been set back, and its recorded instants are moved back by
 * the difference: its cookies rotate as usual, and no grace lasts longer.
 */
export function sessionTime({ now, unbroken }: StoreTime, lastUsed: number, graceMs: number): SessionTime {
  const aheadMs = lastUsed - now;
  if (aheadMs <= 0) return { at: now, setBackMs: 0 };
  if (aheadMs > clockToleranceMs && unbroken >= lastUsed) return { at: unbroken, setBackMs: unbroken - now };
  // Two clocks that differ a little, like those of a former and the present Redis master: `now` soon catches up.
  if (aheadMs < Math.max(graceMs, clockToleranceMs)) return { at: lastUsed, setBackMs: 0 };
  // The clock was set back before this process began: how long ago the session was used is unknown. No request from then is
  // still under way, so nothing needs a grace, and whoever presents an older cookie than the current one is someone else.
  return { at: lastUsed + graceMs, setBackMs: aheadMs + graceMs };
}

/** Time of the store's clock, and the time had it not been set back ({@link ./steady-clock.ts SteadyClock}); epoch ms. */
export interface StoreTime {
  readonly now: number;
  readonly unbroken: number;
}

/** The same state with its instants moved back by `ms`. */
export function setBack(state: RotationState, ms: number): RotationState {
  const { issued, presented } = state;
  return { ...state, issued: issued - ms, presented: presented === null ? null : presented - ms };
}

/**
 * Decides what presenting the cookie of generation `offered` does to a live session (RFC 9700 §4.14). `now` is the
 * session's time; `graceMs` is how long the current cookie is not rotated and the previous one is still accepted. The Redis
 * script `present.lua` decides by the same steps.
 */
export function decideRotation(
  state: RotationState,
  offered: number,
  now: number,
  graceMs: number,
): RotationDecision {
  if (!Number.isSafeInteger(offered) || offered <= 0) return { outcome: 'gone' };
  // The MAC has vouched for the cookie: the store lost the write that issued it.
  if (offered > state.generation)
    return current({ generation: offered, previous: offered - 1, issued: now, presented: now });
  const isWithinGrace = now - Math.max(state.issued, state.presented ?? state.issued) < graceMs;
  if (offered === state.generation) {
    if (state.presented === null) return current({ ...state, presented: now });
    return isWithinGrace ? current(state) : successorOf(state, offered, now);
  }
  if (offered !== state.previous) return { outcome: 'reused' };
  if (isWithinGrace) return current(state);
  // The current cookie was never presented: the response with it was lost. A new one is issued instead of that one again:
  // otherwise a thief and the owner who refresh in step would each confirm the other's cookie, and the theft would never be
  // detected.
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
