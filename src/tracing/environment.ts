/** The `OTEL_*` settings that the exporter doesn't read itself. */
export interface TracingSettings {
  /** The sampler as `OTEL_TRACES_SAMPLER` names it, and the ratio from 0 to 1 for samplers that use one. */
  readonly sampler: { readonly name: (typeof samplerNames)[number]; readonly ratio: number };
  /** Batching of spans for export; undefined: the SDK's default. Times in ms. */
  readonly batch: {
    readonly scheduledDelayMillis: number | undefined;
    readonly exportTimeoutMillis: number | undefined;
    readonly maxQueueSize: number | undefined;
    readonly maxExportBatchSize: number | undefined;
  };
}

const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
/** Environment variables for the endpoint; the first that is set counts. */
const endpointNames = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;
const defaultSampler = 'parentbased_always_on';

type OnProblem = (problem: string) => void;

/**
 * Reads the variables of OpenTelemetry; null if no endpoint is set or traces are switched off. As its specification
 * requires, an unusable value is reported and otherwise ignored.
 */
export function readTracingSettings(env: NodeJS.ProcessEnv, onProblem: OnProblem): TracingSettings | null {
  const endpoint = endpointNames.find((name) => env[name]?.trim());
  if (endpoint === undefined) return null;
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return null;
  const exporters = (env.OTEL_TRACES_EXPORTER || 'otlp').split(',').map((name) => name.trim());
  if (!exporters.includes('otlp')) return null;
  if (!isCollector(env[endpoint]!)) {
    onProblem(`${endpoint} must be an address such as http://collector:4318; nothing is traced`);
    return null;
  }
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/json';
  if (protocol !== 'http/json')
    onProblem('OTEL_EXPORTER_OTLP_PROTOCOL is ignored: traces are sent as http/json');

  function count(name: string): number | undefined {
    const value = env[name]?.trim();
    if (!value) return undefined;
    if (/^\d{1,9}$/.test(value) && Number(value) > 0) return Number(value);
    onProblem(`${name} must be a whole number from 1`);
    return undefined;
  }

  return {
    sampler: readSampler(env, onProblem),
    batch: {
      scheduledDelayMillis: count('OTEL_BSP_SCHEDULE_DELAY'),
      exportTimeoutMillis: count('OTEL_BSP_EXPORT_TIMEOUT'),
      maxQueueSize: count('OTEL_BSP_MAX_QUEUE_SIZE'),
      maxExportBatchSize: count('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    },
  };
}

/** True if the exporter can use the endpoint. If it can't parse one, it silently uses its default, or fails at each export. */
function isCollector(endpoint: string): boolean {
  const url = URL.parse(`${endpoint}/`);
  return url !== null && /^https?:$/.test(url.protocol);
}

function readSampler(env: NodeJS.ProcessEnv, onProblem: OnProblem): TracingSettings['sampler'] {
  const wanted = env.OTEL_TRACES_SAMPLER || defaultSampler;
  const name = samplerNames.find((known) => known === wanted);
  if (name === undefined) onProblem(`OTEL_TRACES_SAMPLER must be one of ${samplerNames.join(', ')}`);
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG || 1);
  const isRatio = ratio >= 0 && ratio <= 1;
  if (!isRatio) onProblem('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
  return { name: name ?? defaultSampler, ratio: isRatio ? ratio : 1 };
}
