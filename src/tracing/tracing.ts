import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span, SpanSource, SpanStart } from './span.ts';

/** Spans that find their parent through the asynchronous context. */
export interface Tracing extends SpanSource {
  /** Runs the work within a span, or within none if null. */
  run<T>(span: Span | null, work: () => T): T;
  /** Runs the work in a child of the current span, if any. The child ends with the work or its promise, with an error's code. */
  around<T>(start: () => SpanStart, work: (span: Span | null) => T): T;
}

/** Creates tracing, which knows the current span, on a source of spans. */
export function createTracing(source: SpanSource): Tracing {
  const current = new AsyncLocalStorage<Span | null>();
  const run = <T>(span: Span | null, work: () => T): T => current.run(span, work);
  return {
    ...source,
    run,
    around(start, work) {
      const span = current.getStore()?.begin(start()) ?? null;
      return span === null ? work(null) : finish(span, () => run(span, () => work(span)));
    },
  };
}

function finish<T>(span: Span, work: () => T): T {
  let result: T;
  try {
    result = work();
  } catch (error) {
    span.end(codeOf(error));
    throw error;
  }
  // A separate chain: the promise itself is returned unchanged.
  if (result instanceof Promise)
    result.then(
      () => span.end(null),
      (error) => span.end(codeOf(error)),
    );
  else span.end(null);
  return result;
}

/** The code of an error, never its text, which may contain confidential details. */
function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  return String(code ?? name ?? 'unknown');
}
