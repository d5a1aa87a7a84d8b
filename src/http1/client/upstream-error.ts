import { Refusal } from '../../errors.ts';

/** Kinds of failure of a request to an upstream. */
export type UpstreamFailure =
  | 'refused'
  | 'connect_timeout'
  | 'response_timeout'
  | 'idle_timeout'
  | 'reset'
  | 'malformed';

/** Failure of a request to an upstream; `cause` is for the log only. */
export class UpstreamError extends Error {
  readonly kind: UpstreamFailure;
  /** True if the connection had carried a response before, and closed before the first byte of this one. */
  diedIdle = false;

  constructor(kind: UpstreamFailure, cause?: unknown) {
    super(kind, { cause });
    this.name = 'UpstreamError';
    this.kind = kind;
  }

  asRefusal(): Refusal {
    const isTimeout = this.kind.endsWith('_timeout');
    return new Refusal(isTimeout ? 'upstream_timeout' : 'upstream_unavailable', { cause: this });
  }
}
