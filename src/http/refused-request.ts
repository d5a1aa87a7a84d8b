import type { RequestHead } from './request-head.ts';

/** The parts of a request that its refusal depends on; the request is an exchange, or its head could not be read. */
export interface RefusedRequest {
  readonly id: string;
  readonly method: string;
  /** The request target as received. */
  readonly target: string;
  readonly path: string;
  /** The query without `?`, as received. */
  readonly query: string;
  readonly head: RequestHead;
  /** Address of the client; empty if it isn't known. */
  readonly address: string;
  /** The route or endpoint of the request; empty while it isn't known. */
  readonly route: string;
  /** True on a route that accepts the web cookie. */
  isOnBrowserRoute: boolean;
}
