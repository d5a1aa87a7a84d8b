import { Refusal } from '../errors.ts';

/** How a request to an upstream can fail. */
export type UpstreamFailure =
  | 'refused'
  | 'connect_timeout'
  | 'response_timeout'
  | 'idle_timeout'
  | 'reset'
  | 'malformed';

/** A request to an upstream that failed; what the upstream was stays in the log. */
export class UpstreamError extends Error {
  readonly kind: UpstreamFailure;
  /** The connection had carried a response before and died before the first byte of this one. */
  diedIdle = false;

  constructor(kind: UpstreamFailure, cause?: unknown) {
    super(kind, { cause });
    this.name = 'UpstreamError';
    this.kind = kind;
  }

  /** The refusal it comes to before the head of a response has been sent. */
  asRefusal(): Refusal {
    const late = this.kind.endsWith('_timeout');
    return new Refusal(late ? 'upstream_timeout' : 'upstream_unavailable', { cause: this });
  }
}
