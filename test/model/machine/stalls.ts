import type { Disturbances } from '../promises/disturbances.ts';
import type { Instant } from '../promises/register.ts';

const everyMs = 20;
/** What is not the machine standing still, but its ordinary pace. */
const ordinaryMs = 60;

/** Notes when this process did not get to run: then neither did the gateways, for all that can be known. */
export function watchStalls(disturbances: Disturbances, now: () => Instant): { stop(): void } {
  let last = now();
  const timer = setInterval(() => {
    const at = now();
    if (at - last > everyMs + ordinaryMs) disturbances.stalled({ from: last + everyMs, to: at });
    last = at;
  }, everyMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
