import type { Attributes, Span } from './span.ts';

/** The spans of one request. */
export class RequestTrace {
  readonly span: Span;
  #upstream: Span | null = null;

  constructor(span: Span) {
    this.span = span;
  }

  /** Begins the span of forwarding to the upstream `name` at `authority` (`host:port`). */
  beginUpstream(method: string, name: string, authority: string): void {
    const [, address = authority, port] = /^(.*):(\d+)$/.exec(authority) ?? [];
    const place = {
      'server.address': address,
      ...(port === undefined ? {} : { 'server.port': Number(port) }),
    };
    const attributes = { ...place, 'http.request.method': method, 'postern.upstream': name };
    this.#upstream = this.span.begin({ name: `${method} ${name}`, kind: 'client', attributes });
  }

  get traceparent(): string {
    return (this.#upstream ?? this.span).traceparent;
  }

  endUpstream(attributes: Attributes, failure: string | null): void {
    this.#upstream?.annotate(attributes);
    this.#upstream?.end(failure);
  }
}
