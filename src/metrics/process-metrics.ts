import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

const prefix = 'postern_';
/** Longest sampling interval, ms: at a shorter one prom-client's monitor of the event loop would keep waking an idle process. */
const never = 2 ** 31 - 1;

/** Adds prom-client's metrics of the process to a registry, but measures iterations of the event loop without its timer. */
export function addProcessMetrics(register: Registry): void {
  collectDefaultMetrics({ register, prefix, eventLoopMonitoringPrecision: never });
  const iterations = monitorEventLoopDelay({ samplePerIteration: true });
  iterations.enable();
  const reading = {
    min: () => iterations.min,
    max: () => iterations.max,
    mean: () => iterations.mean,
    stddev: () => iterations.stddev,
    p50: () => iterations.percentile(50),
    p90: () => iterations.percentile(90),
    p99: () => iterations.percentile(99),
  };
  const gauges = Object.entries(reading).map(([name, read], index) => {
    const complete = `${prefix}nodejs_eventloop_lag_${name}_seconds`;
    register.removeSingleMetric(complete);
    // The first gauge is collected first, and sets all others.
    const collect = index === 0 ? { collect: readAll } : {};
    const help = `Duration of an iteration of the event loop since the last scrape: ${name}.`;
    return { gauge: new Gauge({ name: complete, help, registers: [register], ...collect }), read };
  });

  function readAll(): void {
    for (const { gauge, read } of gauges) gauge.set(read() / 1e9);
    iterations.reset();
  }
}
