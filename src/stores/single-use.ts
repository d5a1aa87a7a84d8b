/** Remembers what has been used, so that it is used once: one-time values of sign-ins, assertions. */
export interface SingleUse {
  /**
   * True the first time `id` is used before `expires` (epoch ms), false ever after, and when `expires` has passed. One
   * atomic step. Rejects `store_unavailable`.
   */
  consume(id: string, expires: number): Promise<boolean>;
  /** `id` can be used again: what it was used for did not happen. Rejects `store_unavailable`. */
  release(id: string): Promise<void>;
}
