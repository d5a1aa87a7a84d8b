/** Values that can be used only once, such as the one-time values of sign-ins, and assertions. */
export interface SingleUse {
  /**
   * Uses `id`, in one atomic step: true the first time, false afterwards, and false once `expires` (epoch ms) has passed.
   * Rejects `store_unavailable`.
   */
  consume(id: string, expires: number): Promise<boolean>;
  /** True if `id` was used; not reliable for an expired value. Rejects `store_unavailable`. */
  wasConsumed(id: string): Promise<boolean>;
  /** Makes `id` usable again, because its use had no effect. Rejects `store_unavailable`. */
  release(id: string): Promise<void>;
}
