/** Values that can be used only once: one-time values of sign-ins, assertions. */
export interface SingleUse {
  /**
   * True the first time `id` is used before `expires` (epoch ms), false afterwards, and when `expires` has passed. One
   * atomic step. Rejects `store_unavailable`.
   */
  consume(id: string, expires: number): Promise<boolean>;
  /** True if `id` was used; not reliable for an expired value. Rejects `store_unavailable`. */
  wasConsumed(id: string): Promise<boolean>;
  /** Makes `id` usable again, because its use had no effect. Rejects `store_unavailable`. */
  release(id: string): Promise<void>;
}
