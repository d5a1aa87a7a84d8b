/** One line with a value. */
export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric with its lines. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly MetricSample[];
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const types: readonly string[] = ['counter', 'gauge', 'histogram'];
const sampleLine = /^([^\s{}]+)(?:\{(.*)\})? (\S+)$/;
const labelPair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,(?!$)|$)/y;
/** Not a number is `Nan` in prom-client's spelling, which Go's ParseFloat, the measure of the format, takes as well. */
const number = /^(?:[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|Inf)|Na[Nn])$/;

/**
 * Reads Prometheus' text format 0.0.4 more strictly than Prometheus does: every metric has its HELP, its TYPE and then
 * its samples in one block, no series comes twice, and buckets add up. Throws at the first line that is otherwise.
 */
export function parsePrometheusText(text: string): ReadonlyMap<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, MetricFamily & { samples: MetricSample[] }>();
  const seen = new Set<string>();
  const lines = text.split('\n').filter((line) => line !== '');
  let current: (MetricFamily & { samples: MetricSample[] }) | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    if (line.startsWith('#')) {
      current = { ...parseHeader(line, lines[++at] ?? ''), samples: [] };
      if (families.has(current.name)) throw new Error(`a second block of ${current.name}`);
      families.set(current.name, current);
      continue;
    }
    const sample = parseSample(line);
    if (current === undefined || !belongsTo(sample.name, current))
      throw new Error(`not below its own HELP and TYPE: ${line}`);
    const series = seriesOf(sample);
    if (seen.has(series)) throw new Error(`twice: ${series}`);
    seen.add(series);
    current.samples.push(sample);
  }
  for (const family of families.values()) {
    if (family.type === 'counter') for (const sample of family.samples) assertCount(sample);
    if (family.type === 'histogram') assertHistogram(family);
  }
  return families;
}

/** What names a series: the name and every label, in order. */
export function seriesOf({ name, labels }: MetricSample): string {
  return JSON.stringify([name, Object.entries(labels).sort()]);
}

function parseHeader(first: string, second: string): Pick<MetricFamily, 'name' | 'help' | 'type'> {
  const [, name = '', help = ''] = /^# HELP (\S+) (.*\S)$/.exec(first) ?? [];
  if (!metricName.test(name) || help === '') throw new Error(`no HELP: ${first}`);
  const [, typed, type = ''] = /^# TYPE (\S+) (\S+)$/.exec(second) ?? [];
  if (typed !== name || !types.includes(type)) throw new Error(`no TYPE of ${name}: ${second}`);
  return { name, help, type: type as MetricFamily['type'] };
}

function parseSample(line: string): MetricSample {
  const [, name = '', labelText, value = ''] = sampleLine.exec(line) ?? [];
  if (!metricName.test(name) || !number.test(value)) throw new Error(`no sample: ${line}`);
  const labels = labelText === undefined ? {} : parseLabels(labelText, line);
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) };
}

function parseLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  labelPair.lastIndex = 0;
  while (labelPair.lastIndex < text.length) {
    const [, name = '', value = ''] = labelPair.exec(text) ?? [];
    if (name === '' || name in labels) throw new Error(`no labels: ${line}`);
    labels[name] = value.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
  }
  if (text === '') throw new Error(`empty labels: ${line}`);
  return labels;
}

function belongsTo(sampleName: string, { name, type }: MetricFamily): boolean {
  if (type !== 'histogram') return sampleName === name;
  return ['_bucket', '_sum', '_count'].some((part) => sampleName === name + part);
}

function assertCount(sample: MetricSample): void {
  if (!(sample.value >= 0) || sample.value === Number.POSITIVE_INFINITY)
    throw new Error(`no count: ${sample.value} of ${seriesOf(sample)}`);
}

/** Of each set of labels: buckets by ascending bound that never fall, the last of them +Inf and the count; and a sum. */
function assertHistogram({ name, samples }: MetricFamily): void {
  const partsOf = new Map<string, MetricSample[]>();
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels;
    const set = seriesOf({ ...sample, name, labels });
    partsOf.set(set, [...(partsOf.get(set) ?? []), sample]);
  }
  for (const [set, parts] of partsOf) {
    const buckets = parts.filter((part) => part.name.endsWith('_bucket'));
    const sums = parts.filter((part) => part.name.endsWith('_sum'));
    const [count, ...others] = parts.filter((part) => part.name.endsWith('_count'));
    if (sums.length !== 1 || count === undefined || others.length > 0)
      throw new Error(`sum and count: ${set}`);
    let [bound, below] = [Number.NEGATIVE_INFINITY, 0];
    for (const { labels, value } of buckets) {
      const next = Number(labels.le?.replace('Inf', 'Infinity'));
      if (!(next > bound) || value < below) throw new Error(`buckets: ${set}`);
      [bound, below] = [next, value];
    }
    if (bound !== Number.POSITIVE_INFINITY || below !== count.value) throw new Error(`last bucket: ${set}`);
  }
}
