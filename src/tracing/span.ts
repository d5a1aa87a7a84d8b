/** What a span tells of what it stands for. Nothing in it may hold a query string, a credential or a cookie. */
export type Attributes = Readonly<Record<string, string | number>>;

/** How a span begins. */
export interface SpanStart {
  readonly name: string;
  /** Who asks whom: `server` is asked by somebody else, `client` asks somebody else. */
  readonly kind: 'server' | 'client' | 'internal';
  readonly attributes: Attributes;
}

/** A span that is under way and is going to be exported. */
export interface Span {
  /** The value of `traceparent` that makes this span the parent of another's (W3C Trace Context §3.2). */
  readonly traceparent: string;
  /** Begins a span below this one; null once this one has ended. */
  begin(start: SpanStart): Span | null;
  rename(name: string): void;
  annotate(attributes: Attributes): void;
  /** Ends it; `failure` is a code, null when all went well. */
  end(failure: string | null): void;
}

/** Begins spans and exports those that have ended. */
export interface SpanSource {
  /**
   * Begins the first span of this process in a trace: below the span that `traceparent`, a valid one, names, if any.
   * Null when it is not sampled.
   */
  begin(start: SpanStart, traceparent: string | null): Span | null;
  /** Exports what has ended, as far as that can be done soon. */
  close(): Promise<void>;
}
