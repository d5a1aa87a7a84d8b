import { type Bar, drawBars } from './bars.ts';
import type { Measured } from './bounds.ts';

/** The names of the pictures' files under docs/images, and their SVG: those whose parts were measured. */
export function picturesOf({ saturation, halfLoad }: Measured): Map<string, string> {
  const pictures = new Map<string, string>();
  if (saturation !== undefined)
    pictures.set(
      'bench-cpu.svg',
      drawBars({
        title: 'CPU time a request',
        subtitle: 'microseconds at saturation; less is better',
        bars: sorted(saturation.map(({ name, cpu }) => bar(name, cpu.median, cpu.median.toFixed(0)))),
      }),
    );
  if (halfLoad !== undefined)
    pictures.set(
      'bench-latency.svg',
      drawBars({
        title: 'Latency added at half load',
        subtitle: 'median, in milliseconds, at half of what saturates each; 99th percentile in brackets',
        bars: sorted(
          halfLoad.map(({ name, added }) =>
            bar(name, added.p50Ms, `${added.p50Ms.toFixed(2)} (${added.p99Ms.toFixed(1)})`),
          ),
        ),
      }),
    );
  return pictures;
}

function bar(label: string, value: number, figure: string): Bar {
  return { label, value: Math.max(value, 0), figure, isOurs: label.startsWith('postern-') };
}

function sorted(bars: readonly Bar[]): Bar[] {
  return bars.toSorted((one, other) => one.value - other.value);
}
