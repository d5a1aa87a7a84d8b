import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

const prefix = 'postern_';
/** Sampling interval that never ends, in ms: prom-client's monitor of the event loop would wake an idle process all the time. */
const never = 2 ** 31 - 1;

/**
 * Adds prom-client's metrics of Node's process to a registry. Garbage collections and iterations of the event loop are measured
 * from then on, the latter without a timer.
 */
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
    // The first one is collected first, and reads for all.
    const collect = index === 0 ? { collect: readAll } : {};
    const help = `Duration of an iteration of the event loop since the last scrape: ${name}.`;
    return { gauge: new Gauge({ name: complete, help, registers: [register], ...collect }), read };
  });

  function readAll(): void {
    for (const { gauge, read } of gauges) gauge.set(read() / 1e9);
    iterations.reset();
  }
}
