import t from 'tap';
import { readTracingSettings } from '../../src/tracing/environment.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

const off = [
  { name: 'no endpoint', env: {} },
  { name: 'an empty endpoint', env: { OTEL_EXPORTER_OTLP_ENDPOINT: '' } },
  { name: 'the SDK switched off', env: { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' } },
  { name: 'no exporter', env: { ...endpoint, OTEL_TRACES_EXPORTER: 'none' } },
  { name: 'another exporter', env: { ...endpoint, OTEL_TRACES_EXPORTER: 'console' } },
];

for (const { name, env } of off)
  t.test(`with ${name} nothing is traced`, async (t) => t.equal(readTracingSettings(env), null));

const samplers = [
  { env: {}, sampler: { name: 'parentbased_always_on', ratio: 1 } },
  {
    env: { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
    sampler: { name: 'parentbased_traceidratio', ratio: 0.25 },
  },
  { env: { OTEL_TRACES_SAMPLER: 'always_off' }, sampler: { name: 'always_off', ratio: 1 } },
];

t.test('the sampler is the one that is named', async (t) => {
  for (const { env, sampler } of samplers)
    t.match(readTracingSettings({ ...endpoint, ...env }), { sampler, problems: [] });
  t.ok(readTracingSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }));
  t.ok(readTracingSettings({ ...endpoint, OTEL_TRACES_EXPORTER: 'console, otlp', OTEL_SDK_DISABLED: 'no' }));
});

t.test('what can not be used is told of, and as if it were not there', async (t) => {
  const settings = readTracingSettings({
    ...endpoint,
    OTEL_TRACES_SAMPLER: 'jaeger_remote',
    OTEL_TRACES_SAMPLER_ARG: '2',
    OTEL_BSP_MAX_QUEUE_SIZE: '-1',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
  });
  t.match(settings, {
    sampler: { name: 'parentbased_always_on', ratio: 1 },
    batch: { scheduledDelayMillis: 100, maxQueueSize: undefined },
    problems: [/_PROTOCOL/, /_SAMPLER must/, /_ARG/, /MAX_QUEUE_SIZE/],
  });
});
