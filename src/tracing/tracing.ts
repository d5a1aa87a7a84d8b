import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span, SpanSource, SpanStart } from './span.ts';

/** Spans of requests, each of which knows what it is part of without being told. */
export interface Tracing extends SpanSource {
  /** Does the work as part of that span; null: of none. */
  run<T>(span: Span | null, work: () => T): T;
  /**
   * Does the work as part of a new span below the one it is part of, which ends with it or its promise; a failure's code
   * is told. Where there is none the work is done and nothing else.
   */
  around<T>(start: () => SpanStart, work: (span: Span | null) => T): T;
}

/** Adds to a source of spans what is under way where. */
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
  // Beside the promise, which whoever asked is given as it is.
  if (result instanceof Promise)
    result.then(
      () => span.end(null),
      (error) => span.end(codeOf(error)),
    );
  else span.end(null);
  return result;
}

/** Never its text, which may say more than everybody should read. */
function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  return String(code ?? name ?? 'unknown');
}
