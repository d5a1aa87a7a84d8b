import { type MetricFamily, parsePrometheusText, seriesOf } from './prometheus-text.ts';

/** What `/metrics` said at one moment. */
export interface Scrape {
  readonly text: string;
  readonly families: ReadonlyMap<string, MetricFamily>;
  /** The names and labels of all samples. */
  readonly series: ReadonlySet<string>;
  /** The sum of the samples of that name (without `postern_`) with those labels; throws when there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
}

/** Reads the metrics of a gateway, strictly. */
export async function scrape(managementPort: number): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${managementPort}/metrics`, {
    headers: { connection: 'close' },
  });
  const text = await response.text();
  const families = parsePrometheusText(text);
  const samples = [...families.values()].flatMap((family) => family.samples);
  return {
    text,
    families,
    series: new Set(samples.map(seriesOf)),
    value(name, labels = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === `postern_${name}` &&
          Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      );
      if (found.length === 0) throw new Error(`no sample of ${name} ${JSON.stringify(labels)}`);
      return found.reduce((sum, sample) => sum + sample.value, 0);
    },
  };
}
