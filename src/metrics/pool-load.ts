/** What a pool of connections is at, at one moment; `busy` and `free` are all of them. */
export interface PoolLoad {
  /** Connections that carry something, or are being made for it. */
  readonly busy: number;
  readonly free: number;
  /** Who waits for a connection. */
  readonly waiting: number;
}
