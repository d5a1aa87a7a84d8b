import type { Awaitable } from './awaitable.ts';
import type { Comparison, ListPage, ListQuery } from './list-query.ts';
import type { SessionOrigin } from './session-origin.ts';

/** A person's account at an identity provider, and the session there. */
export interface ProviderIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** The `sid` of the ID token (OpenID Connect Back-Channel Logout 1.0 §2.1); null: it had none. */
  readonly sid: string | null;
}

/** Selection of the sessions that began in one session at a provider (`sid`), or by one person there (`subject`). */
export type SessionsOfProvider =
  | { readonly issuer: string; readonly sid: string }
  | { readonly issuer: string; readonly subject: string };

/** A signed-in browser or client. Instants are epoch milliseconds by the store's clock. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  /** `password` or the provider's name. */
  readonly method: string;
  /** The scopes requested at sign-in, space-separated and sorted; null: no restriction. */
  readonly scope: string | null;
  readonly address: string;
  readonly userAgent: string;
  readonly created: number;
  readonly lastUsed: number;
  /** The earlier of the idle and the absolute end. */
  readonly expires: number;
  /** The generation of the current refresh cookie. */
  readonly generation: number;
  /** The epoch of the user when the session began: see session-epoch.ts. 0 for sessions from before epochs were kept. */
  readonly epoch: number;
  /** Null for a sign-in by password, and for sessions from before this was kept. */
  readonly provider: ProviderIdentity | null;
  /** The provider's ID token, encrypted before it is stored (credentials/session-seals.ts); null: not kept. */
  readonly sealedIdToken: string | null;
  /** The claims of that token that are kept, encrypted likewise; null: none. */
  readonly sealedClaims: string | null;
}

/** The lifetimes of sessions, and the grace for a refresh cookie that has been replaced; ms. */
export interface SessionTimes {
  readonly idleLifetimeMs: number;
  readonly absoluteLifetimeMs: number;
  readonly reuseGraceMs: number;
}

export type NewSession = Pick<
  Session,
  'id' | 'userId' | 'method' | 'scope' | 'address' | 'userAgent' | 'epoch'
> &
  Partial<Pick<Session, 'provider' | 'sealedIdToken' | 'sealedClaims'>>;

/** A session that has begun, and those that were ended to make room for it. `now` is the store's clock, epoch ms. */
export interface CreatedSession {
  readonly session: Session;
  readonly now: number;
  readonly ended: readonly Session[];
}

/** The outcome of presenting a refresh cookie of one generation. */
export type Presentation =
  /** The response sets the cookie of `session.generation`; the session counts as used. `now` is the store's clock, epoch ms. */
  | {
      readonly outcome: 'current';
      readonly session: Session;
      readonly rotated: boolean;
      readonly now: number;
    }
  /** The cookie is older than is accepted (session-rotation.ts): the session has been revoked in the same step. */
  | { readonly outcome: 'reused'; readonly session: Session }
  /** There is no live session of that id. */
  | { readonly outcome: 'gone' };

/** The part of a live session that a request needs. */
export interface LiveSession {
  readonly id: string;
  readonly userId: string;
  /** The earlier of the idle and the absolute end, epoch ms by the store's clock. */
  readonly expires: number;
  /** As {@link Session.epoch}. */
  readonly epoch: number;
  /** True if the sign-in requested a `scope`, to which the session is restricted. */
  readonly isRestricted: boolean;
  /** The sign-in at a provider with which the session began; null: none is known. */
  readonly origin: SessionOrigin | null;
  /** As {@link Session.sealedClaims}. */
  readonly sealedClaims: string | null;
}

/** The fields that sessions are sorted by. */
export type SessionSortField = 'created' | 'last_used';

/** Filters of the list of sessions; all must hold. */
export interface SessionFilters {
  readonly userId?: string;
  readonly method?: string;
  /** The bounds of a range of the field that the list is sorted by, each at most once; epoch ms. */
  readonly range?: Readonly<Partial<Record<Comparison, number>>>;
}

/** A query for one page of the live sessions. */
export type SessionQuery = ListQuery<SessionSortField, SessionFilters>;

/** Called with the id of a session that has ended, `afterMs` after its end. */
export type EndedListener = (id: string, afterMs: number) => void;

/**
 * The session store. Instants are by its own clock. Every method but `create`, `list`, `noteUse`, `prune`, `revokeAllOf` and
 * `revokeAll` is one atomic step, which leaves a session as it was if it fails, unless only the reply was lost. Methods reject
 * with {@link ../errors.ts Refusal} `store_unavailable` when the store is unavailable.
 */
export interface Sessions {
  /**
   * Begins a session. The user keeps at most `maxPerUser` sessions, this one included: those used longest ago end. A failure may
   * leave a session whose cookie nobody has.
   */
  create(session: NewSession, times: SessionTimes, maxPerUser?: number): Promise<CreatedSession>;
  /** Presents a refresh cookie: confirms or rotates it, accepts a previous one or detects reuse (see session-rotation.ts). */
  present(id: string, generation: number, times: SessionTimes): Promise<Presentation>;
  /**
   * The session if it is alive now; called on every bearer request, so a cached result is returned without a promise. While the
   * store is unavailable, a session that this process saw alive within `sessions.stale_if_error` is still returned; for any
   * other, the call throws or rejects `store_unavailable`.
   */
  findLive(id: string): Awaitable<LiveSession | undefined>;
  find(id: string): Awaitable<Session | undefined>;
  /** The ids of the selected sessions; some may have ended. */
  idsOfProvider(which: SessionsOfProvider): Awaitable<readonly string[]>;
  /**
   * Reads a page of the live sessions. Sorted by `created`, pages are exact while sessions begin and end: a session that is
   * alive throughout is on exactly one of them.
   */
  list(query: SessionQuery): Awaitable<ListPage<Session>>;
  /** Counts the live sessions. */
  countLive(): Awaitable<number>;
  /**
   * Records uses, epoch ms by session id, of sessions that are alive: each postpones the idle end as a refresh does, and
   * leaves the refresh cookie as it is. A use that is no later than the last one changes nothing, and one in the store's
   * future counts as now. After a failure, which may have recorded some, the call is repeated with the same uses.
   */
  noteUse(uses: ReadonlyMap<string, number>, times: SessionTimes): Promise<void>;
  /** Ends the session; undefined when it was not alive. */
  revoke(id: string): Promise<Session | undefined>;
  /**
   * Ends every session of the user except `exceptId`; resolves to their ids. After a failure some may have ended: call it again.
   */
  revokeAllOf(userId: string, exceptId?: string): Promise<readonly string[]>;
  /** Ends every session of the tenant; resolves to their ids. After a failure some may have ended: call it again. */
  revokeAll(): Promise<readonly string[]>;
  /** Adds a listener for sessions ended by any process, if the store notifies of them; SQLite doesn't. */
  onEnded(listener: EndedListener): void;
  /** Deletes expired sessions; resolves to their number, 0 where the store itself deletes them. Called at intervals. */
  prune(): Promise<number>;
  /** Resolves when the store responds, rejects `store_unavailable` otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
