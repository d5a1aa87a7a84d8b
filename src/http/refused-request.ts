import type { RequestHead } from './request-head.ts';

/** What a refusal depends on: a request that is an exchange by now, or one whose head could not be read. */
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
  /** What it was found to be for; empty while that isn't known. */
  readonly route: string;
  /** It is on a route whose browsers may be signed in by the web cookie. */
  isOnBrowserRoute: boolean;
}
