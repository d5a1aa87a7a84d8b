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
      /** Whether this step started a new generation. */
      readonly rotated: boolean;
    }
  | { readonly outcome: 'reused' }
  | { readonly outcome: 'gone' };

/** The rotation state of a session that has just signed in. */
export function initialRotation(now: number): RotationState {
  return { generation: 1, previous: 0, issued: now, presented: now };
}

/**
 * The session's clock: the store's, unless it has been set back since the session was last used. `now` and `lastUsed`
 * in epoch ms.
 */
export function sessionClock(now: number, lastUsed: number): number {
  return Math.max(now, lastUsed);
}

/**
 * Decides what presenting the cookie of generation `offered` does to a live session (RFC 9700 §4.14). `now` is the
 * session's clock; `graceMs` is how long the current cookie stays unrotated and the previous one is still accepted.
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
