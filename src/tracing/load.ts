import { readTracingSettings } from './environment.ts';
import type { ExportEvents } from './open-telemetry.ts';
import type { Attributes } from './span.ts';
import type { Tracing } from './tracing.ts';

/** Called on events in tracing. */
export interface TracingEvents extends ExportEvents {
  onProblem(problem: string): void;
}

/**
 * Tracing as configured by the `OTEL_*` variables; null, with nothing loaded, if they don't ask for it. `attributes`
 * name the service unless the variables do.
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
