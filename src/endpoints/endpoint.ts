import type { Principal } from '../credentials/principal.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';

/** One call of an own endpoint, past its guard. */
export interface Call {
  readonly exchange: Exchange;
  /** Who is calling; null on endpoints without authentication. */
  readonly principal: Principal | null;
  /** The path segment in the place of `{id}`; empty where the path has none. */
  readonly id: string;
  /** The whole request body, bounded by `limits.own_body`. */
  readonly body: Buffer;
  /**
   * Judges the caller once more, as of now, and gives who it is now; null on endpoints without authentication. An endpoint
   * that gives access asks after its commit, and takes back what it gave when this rejects. Rejects as the guard does.
   */
  recheck(): Promise<Principal | null>;
}

/**
 * What an endpoint asks of its caller: `open` looks at no credential at all, `sign_out` takes a session's token if there is a good one,
 * otherwise a session or an API key that holds all of the scopes.
 */
export type Guard = 'open' | 'sign_out' | { readonly scopes: readonly string[] };

/** An endpoint that Postern answers itself. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Without trailing slash; one segment may be `{id}`. */
  readonly path: string;
  readonly guard: Guard;
  /** Errors carry OAuth's `error` and `error_description` too. */
  readonly oauth?: boolean;
  /** HEAD is not answered though GET is. */
  readonly noHead?: boolean;
  readonly handle: (call: Call) => Promise<Reply>;
}
