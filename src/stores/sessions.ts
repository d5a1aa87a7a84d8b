import type { Awaitable } from './awaitable.ts';

/** A signed-in browser or client. Instants are epoch milliseconds by the store's clock. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  /** `password` or the provider's name. */
  readonly method: string;
  /** The scopes asked for at sign-in, space-separated and sorted; null: no restriction. */
  readonly scope: string | null;
  readonly address: string;
  readonly userAgent: string;
  readonly created: number;
  readonly lastUsed: number;
  /** The nearer of the idle and the absolute end. */
  readonly expires: number;
  /** The generation of the one refresh cookie that is current. */
  readonly generation: number;
}

/** Durations in milliseconds. */
export interface SessionTimes {
  readonly idleLifetimeMs: number;
  readonly absoluteLifetimeMs: number;
  readonly reuseGraceMs: number;
}

export type NewSession = Pick<Session, 'id' | 'userId' | 'method' | 'scope' | 'address' | 'userAgent'>;

/** What presenting a refresh cookie of one generation came to. */
export type Presentation =
  /** Answer with the cookie of `session.generation`; the session counts as used. `now` is the store's clock. */
  | {
      readonly outcome: 'current';
      readonly session: Session;
      readonly rotated: boolean;
      readonly now: number;
    }
  /** An older cookie than the contract allows: the session has been revoked in the same step. */
  | { readonly outcome: 'reused'; readonly session: Session }
  /** No live session of that id. */
  | { readonly outcome: 'gone' };

/** What a request needs to know of a live session. */
export interface LiveSession {
  readonly id: string;
  readonly userId: string;
  /** The nearer of the idle and the absolute end, epoch ms by the store's clock. */
  readonly expires: number;
}

/** Told that a session has ended, `afterMs` after it did. */
export type EndedListener = (id: string, afterMs: number) => void;

/**
 * The session store. Every method but `prune` and `revokeAllOf` is one atomic step on the store's own clock and rejects
 * with {@link ../errors.ts Refusal} `store_unavailable` when the store can't be had; a failure changes nothing.
 */
export interface Sessions {
  create(
    session: NewSession,
    times: SessionTimes,
  ): Promise<{ readonly session: Session; readonly now: number }>;
  /** Presents a refresh cookie: confirms, rotates, answers a previous one or detects reuse (see session-rotation.ts). */
  present(id: string, generation: number, times: SessionTimes): Promise<Presentation>;
  /**
   * The session if it lives now; asked on every bearer request, so a hot answer waits for nothing. Throws or rejects
   * `store_unavailable`, but not for one that this process saw alive within `sessions.stale_if_error`.
   */
  findLive(id: string): Awaitable<LiveSession | undefined>;
  find(id: string): Awaitable<Session | undefined>;
  /** Ends the session; undefined when there was none alive. */
  revoke(id: string): Promise<Session | undefined>;
  /** Ends every session of the user but `exceptId`; the ids ended. After a failure some may have ended: call it again. */
  revokeAllOf(userId: string, exceptId?: string): Promise<readonly string[]>;
  /** Adds a listener for sessions ended by any process, where the store tells of them; SQLite doesn't. */
  onEnded(listener: EndedListener): void;
  /** Deletes what has expired; gives how many. Called now and then. */
  prune(): Promise<number>;
  /** Resolves when the store answers, rejects `store_unavailable` otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
