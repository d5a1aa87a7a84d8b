import t from 'tap';
import { readTracingSettings, type TracingSettings } from '../../src/tracing/environment.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

/** The settings read, and the problems reported. */
function read(env: NodeJS.ProcessEnv): { settings: TracingSettings | null; problems: string[] } {
  const problems: string[] = [];
  const settings = readTracingSettings(env, (problem) => problems.push(problem));
  return { settings, problems };
}

const off = [
  { name: 'no endpoint', env: {} },
  { name: 'an empty endpoint', env: { OTEL_EXPORTER_OTLP_ENDPOINT: '' } },
  { name: 'a blank endpoint', env: { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' } },
  { name: 'the SDK switched off', env: { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' } },
  { name: 'no exporter', env: { ...endpoint, OTEL_TRACES_EXPORTER: 'none' } },
  { name: 'another exporter', env: { ...endpoint, OTEL_TRACES_EXPORTER: 'console' } },
];

for (const { name, env } of off)
  t.test(`with ${name} nothing is traced`, async (t) => t.same(read(env), { settings: null, problems: [] }));

const unusable = ['not a url', 'http://h:99999', 'otel:4318', '::::', 'grpc://collector:4317', 'http://c '];

t.test('an unusable endpoint is reported by name, and nothing is traced', async (t) => {
  for (const name of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'])
    for (const value of unusable) {
      const { settings, problems } = read({ ...endpoint, [name]: value });
      t.equal(settings, null, value);
      t.match(problems, [new RegExp(`^${name} must`)], value);
      t.equal(problems.length, 1);
      t.notOk(problems[0]!.includes(value), 'it may hold a password');
    }
  const traces = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/v1/traces' };
  t.match(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'for others', ...traces }), { settings: {}, problems: [] });
  t.same(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'not a url', OTEL_SDK_DISABLED: 'true' }).problems, []);
});

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
    t.match(read({ ...endpoint, ...env }), { settings: { sampler }, problems: [] });
  t.ok(read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }).settings);
  t.ok(read({ ...endpoint, OTEL_TRACES_EXPORTER: 'console, otlp', OTEL_SDK_DISABLED: 'no' }).settings);
});

t.test('an unusable value is reported and otherwise ignored', async (t) => {
  const found = read({
    ...endpoint,
    OTEL_TRACES_SAMPLER: 'jaeger_remote',
    OTEL_TRACES_SAMPLER_ARG: '2',
    OTEL_BSP_MAX_QUEUE_SIZE: '-1',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
  });
  t.match(found, {
    settings: {
      sampler: { name: 'parentbased_always_on', ratio: 1 },
      batch: { scheduledDelayMillis: 100, maxQueueSize: undefined },
    },
    problems: [/_PROTOCOL/, /_SAMPLER must/, /_ARG/, /MAX_QUEUE_SIZE/],
  });
});
