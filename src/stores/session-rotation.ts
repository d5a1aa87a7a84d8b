/** What a session knows of its refresh cookie. Instants are epoch milliseconds by the store's clock. */
export interface RotationState {
  /** The generation of the current cookie; sign-in issues 1. */
  readonly generation: number;
  /** When the current cookie was made. */
  readonly issued: number;
  /** When the current cookie was first presented; null: not yet. Sign-in counts as a presentation. */
  readonly presented: number | null;
}

/** What presenting a cookie comes to; with `current` the cookie of `state.generation` is the answer. */
export type RotationDecision =
  | {
      readonly outcome: 'current';
      readonly state: RotationState;
      /** Whether this step made a new generation. */
      readonly rotated: boolean;
    }
  | { readonly outcome: 'reused' }
  | { readonly outcome: 'gone' };

/** The rotation state of a session that has just signed in. */
export function initialRotation(now: number): RotationState {
  return { generation: 1, issued: now, presented: now };
}

/**
 * Decides what presenting the cookie of generation `presented` does to a live session (RFC 9700 §4.14).
 * `graceMs` is how long the current cookie stays unrotated and the previous one is still answered.
 */
export function decideRotation(
  state: RotationState,
  presented: number,
  now: number,
  graceMs: number,
): RotationDecision {
  if (!Number.isSafeInteger(presented) || presented <= 0) return { outcome: 'gone' };
  if (presented === state.generation) return presentCurrent(state, now, graceMs);
  // The MAC has vouched for it: the store lost the write that issued this cookie.
  if (presented > state.generation) return current({ generation: presented, issued: now, presented: now });
  const isPrevious = presented === state.generation - 1;
  return isPrevious && isWithinGrace(state, now, graceMs) ? current(state) : { outcome: 'reused' };
}

function presentCurrent(state: RotationState, now: number, graceMs: number): RotationDecision {
  if (state.presented === null) return current({ ...state, presented: now });
  if (isWithinGrace(state, now, graceMs)) return current(state);
  return {
    outcome: 'current',
    state: { generation: state.generation + 1, issued: now, presented: null },
    rotated: true,
  };
}

/** An unpresented cookie may never have arrived: its grace hasn't begun to run out. */
function isWithinGrace(state: RotationState, now: number, graceMs: number): boolean {
  return state.presented === null || now - Math.max(state.issued, state.presented) < graceMs;
}

function current(state: RotationState): RotationDecision {
  return { outcome: 'current', state, rotated: false };
}
