import t from 'tap';
import { parse } from 'yaml';
import { leastValues, render, requireHelm, theOnly } from './helm.ts';
import { testRefusals } from './refusals.ts';

/** What the pods get: the workers of the configuration, and the memory of the container. */
function podsOf(values: object): { workers: unknown; requests: unknown; limits: unknown } {
  const manifests = render({ ...leastValues, ...values });
  const { data } = theOnly(manifests, 'ConfigMap');
  const { resources } = theOnly(manifests, 'Deployment').spec.template.spec.containers[0];
  return {
    workers: parse(data['postern.yaml']).workers,
    requests: resources.requests?.memory,
    limits: resources.limits?.memory,
  };
}

const memoryOfOne = { requests: '256Mi', limits: '512Mi' };
const memoryOfTwo = { requests: '416Mi', limits: '672Mi' };
const memoryOfThree = { requests: '576Mi', limits: '832Mi' };

function cpu(limit: string | number): object {
  return { resources: { limits: { cpu: limit } } };
}

function configured(workers: unknown): object {
  return { config: { ...leastValues.config, workers } };
}

const rows: readonly [name: string, values: object, expected: object][] = [
  ['without a CPU limit there is one', {}, { workers: undefined, ...memoryOfOne }],
  ['less than two cores are one', cpu('1900m'), { workers: undefined, ...memoryOfOne }],
  ['half a core is one, too', cpu('500m'), { workers: undefined, ...memoryOfOne }],
  ['two cores are two', cpu(2), { workers: 2, ...memoryOfTwo }],
  ['two cores as a text', cpu('2'), { workers: 2, ...memoryOfTwo }],
  ['whole cores count', cpu('3500m'), { workers: 3, ...memoryOfThree }],
  ['whole cores of a fraction count', cpu(3.5), { workers: 3, ...memoryOfThree }],
  [
    'the configuration goes before the limit',
    { ...cpu(4), ...configured(2) },
    { workers: 2, ...memoryOfTwo },
  ],
  ['one worker on many cores', { ...cpu(4), ...configured(1) }, { workers: 1, ...memoryOfOne }],
  ['auto with a limit', { ...cpu(3), ...configured('auto') }, { workers: 'auto', ...memoryOfThree }],
  ['auto on a node that nobody knows here', configured('auto'), { workers: 'auto', ...memoryOfOne }],
  [
    'an amount of the owner’s stands',
    { resources: { requests: { memory: '1Gi' }, limits: { cpu: 2, memory: '2Gi' } } },
    { workers: 2, requests: '1Gi', limits: '2Gi' },
  ],
  [
    'no limit of memory is none',
    { resources: { limits: { cpu: 2, memory: null } } },
    { workers: 2, requests: '416Mi', limits: undefined },
  ],
];

t.test('workers and their memory', async (t) => {
  if (!requireHelm(t)) return;
  for (const [name, values, expected] of rows) t.match(podsOf(values), expected, name);
});

t.test('less memory than the workers take is refused', async (t) => {
  if (!requireHelm(t)) return;
  testRefusals(t, [
    {
      name: 'the memory of one for two',
      values: { resources: { limits: { cpu: 2, memory: '600Mi' } } },
      says: /resources\.limits\.memory is 600Mi, but 2 workers .* take 672Mi/,
    },
    {
      name: 'decimal units',
      values: { resources: { limits: { memory: '700M' } } },
      config: { workers: 2 },
      says: /resources\.limits\.memory is 700M, but 2 workers/,
    },
    {
      name: 'workers that are configured',
      values: { resources: { limits: { memory: '1Gi' } } },
      config: { workers: 6 },
      says: /resources\.limits\.memory is 1Gi, but 6 workers .* take 1312Mi/,
    },
  ]);
});
