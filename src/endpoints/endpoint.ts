import type { Principal } from '../credentials/principal.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';

/** Admits a session or an API key that holds all of the scopes. */
export interface ScopeGuard {
  readonly scopes: readonly string[];
}

/**
 * What an endpoint requires of its caller. `open` ignores credentials, `sign_out` takes the session of a valid token
 * and ignores an invalid one, `session` admits any session but no API key; scopes admit a session or an API key that
 * holds all of them.
 */
export type Guard = 'open' | 'sign_out' | 'session' | ScopeGuard;

/** Whom a guard admits; null is a caller that is not identified. */
export type CallerOf<G extends Guard> = G extends 'open'
  ? null
  : G extends 'sign_out'
    ? Principal | null
    : Principal;

/** One call of an own endpoint, past its guard. */
export interface Call<G extends Guard = ScopeGuard> {
  readonly exchange: Exchange;
  /** Who is calling. */
  readonly principal: CallerOf<G>;
  /** The path segment that matches `{id}`; empty where the path has none. */
  readonly id: string;
  /** The whole request body, bounded by `limits.own_body`. */
  readonly body: Buffer;
  /** The media type of the body, as sent; empty without one. */
  readonly contentType: string;
  /**
   * Runs the guard once more and resolves to the caller as of now; rejects as the guard does. An endpoint that grants
   * access calls it after its commit, and revokes what it granted when this rejects.
   */
  recheck(): Promise<CallerOf<G>>;
}

/** An endpoint that Postern serves itself. */
export interface Endpoint<G extends Guard = ScopeGuard> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Without trailing slash; the last segment, or the one before it, may be `{id}`. */
  readonly path: string;
  readonly guard: G;
  /** Errors carry OAuth's `error` and `error_description` too. */
  readonly oauth?: boolean;
  /** HEAD is refused although GET is served. */
  readonly noHead?: boolean;
  readonly handle: (call: Call<G>) => Promise<Reply>;
}

/** An endpoint behind any of the guards. */
export type AnyEndpoint = Endpoint<'open'> | Endpoint<'sign_out'> | Endpoint<'session'> | Endpoint;
