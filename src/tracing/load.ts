import { readTracingSettings } from './environment.ts';
import type { ExportEvents } from './open-telemetry.ts';
import type { Attributes } from './span.ts';
import type { Tracing } from './tracing.ts';

/** Loads tracing if the `OTEL_*` variables ask for it; otherwise null. `attributes` name the service unless the variables do. */
export async function loadTracing(
  env: NodeJS.ProcessEnv,
  attributes: Attributes,
  events: ExportEvents & { onProblem(problem: string): void },
): Promise<Tracing | null> {
  const settings = readTracingSettings(env, events.onProblem);
  if (settings === null) return null;
  const [{ createOpenTelemetry }, { createTracing }] = await Promise.all([
    import('./open-telemetry.ts'),
    import('./tracing.ts'),
  ]);
  return createTracing(createOpenTelemetry(settings, attributes, events));
}
