import type { MetricSnapshot, MetricsRegistry } from '../metrics/registry.ts';

/** What a worker counts in this time is lost if it is killed, ms. */
const intervalMs = 250;

/** Reports what is counted whenever something was; the timer does not keep the process alive. */
export function reportCounts(
  registry: Pick<MetricsRegistry, 'counted'>,
  report: (counts: readonly MetricSnapshot[]) => void,
): void {
  let reported = '';
  const check = async () => {
    const counts = await registry.counted();
    const text = JSON.stringify(counts.map(({ samples }) => samples.map(({ value }) => value)));
    if (text === reported) return;
    reported = text;
    report(counts);
  };
  setInterval(() => void check(), intervalMs).unref();
}
