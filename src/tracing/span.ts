/** The attributes of a span. Must not contain a query string, a credential or a cookie. */
export type Attributes = Readonly<Record<string, string | number>>;

/** Start of a span. */
export interface SpanStart {
  readonly name: string;
  /** `server` for a request received, `client` for one sent. */
  readonly kind: 'server' | 'client' | 'internal';
  readonly attributes: Attributes;
}

/** A running span that will be exported. */
export interface Span {
  /** The `traceparent` that makes this span the parent of a remote one (W3C Trace Context §3.2). */
  readonly traceparent: string;
  begin(start: SpanStart): Span | null;
  rename(name: string): void;
  annotate(attributes: Attributes): void;
  /** Ends the span; `failure` is a code, null on success. */
  end(failure: string | null): void;
}

/** Begins spans, and exports them once they have ended. */
export interface SpanSource {
  /** Begins this process's first span of a trace: a child of the span in `traceparent`, if valid. Null if it is not sampled. */
  begin(start: SpanStart, traceparent: string | null): Span | null;
  /** Exports ended spans, within a time limit. */
  close(): Promise<void>;
}
