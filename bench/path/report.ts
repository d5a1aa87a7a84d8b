import type { Pauses } from './observed.ts';
import type { Part } from './parts.ts';
import { parts } from './parts.ts';

/** What was observed of one kind of request. */
export interface ObservedPath {
  readonly name: string;
  /** CPU time of the whole process, not profiled, µs a request. */
  readonly cpuMicroseconds: number;
  /** Shares of the profiled time, by part. */
  readonly times: ReadonlyMap<Part, number>;
  /** Bytes a request, by part. */
  readonly allocations: ReadonlyMap<Part, number>;
  readonly pauses: ReadonlyMap<string, Pauses>;
  /** Collections, by their kind. */
  readonly collections: ReadonlyMap<string, Pauses>;
  /** How long pauses were watched, s. */
  readonly seconds: number;
}

/** Everything of PROFILE.md that is measured. */
export function renderPaths(paths: readonly ObservedPath[]): string {
  return paths.map(renderPath).join('\n\n');
}

function renderPath(path: ObservedPath): string {
  const total = sum(path.times.values());
  const bytes = sum(path.allocations.values());
  const rows = parts
    .filter((part) => path.times.has(part) || path.allocations.has(part))
    .map((part) => {
      const share = (path.times.get(part) ?? 0) / total;
      return `| ${part} | ${(share * path.cpuMicroseconds).toFixed(1)} | ${(100 * share).toFixed(1)} | ${Math.round(path.allocations.get(part) ?? 0)} |`;
    });
  return `## ${path.name}

| part | CPU µs/request | % | bytes/request |
| --- | ---: | ---: | ---: |
${rows.join('\n')}
| all | ${path.cpuMicroseconds.toFixed(1)} | 100 | ${Math.round(bytes)} |

What held up other requests:

| cause | a second | longest ms | ms a second |
| --- | ---: | ---: | ---: |
${renderPauses(path)}`;
}

const mostPauses = 12;

function renderPauses({ pauses, collections, seconds }: ObservedPath): string {
  const others = [...pauses].filter(([cause]) => cause !== 'collect garbage');
  return [...collections, ...others]
    .toSorted(([, a], [, b]) => b.longestMs - a.longestMs)
    .slice(0, mostPauses)
    .map(
      ([cause, { times, longestMs, totalMs }]) =>
        `| ${cause} | ${(times / seconds).toFixed(2)} | ${longestMs.toFixed(2)} | ${(totalMs / seconds).toFixed(2)} |`,
    )
    .join('\n');
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
