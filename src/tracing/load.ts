import { readTracingSettings } from './environment.ts';
import type { ExportEvents } from './open-telemetry.ts';
import type { Attributes } from './span.ts';
import type { Tracing } from './tracing.ts';

/** Told of what has to do with tracing. */
export interface TracingEvents extends ExportEvents {
  /** Something the variables ask for can't be had: a sentence. */
  onProblem(problem: string): void;
}

/**
 * Tracing as the `OTEL_*` variables of the process say; null when they ask for none, and then nothing is loaded.
 * `attributes` name the service where they don't.
 */
export async function loadTracing(
  env: NodeJS.ProcessEnv,
  attributes: Attributes,
  events: TracingEvents,
): Promise<Tracing | null> {
  const settings = readTracingSettings(env, events.onProblem);
  if (settings === null) return null;
  const [{ createOpenTelemetry }, { createTracing }] = await Promise.all([
    import('./open-telemetry.ts'),
    import('./tracing.ts'),
  ]);
  return createTracing(createOpenTelemetry(settings, attributes, events));
}
