import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

// Loaded into a process before its program, by `--import FILE?observe=cpu|allocation|collections|delays&into=FOLDER`. SIGUSR2
// begins to observe, the next one ends it: then what was seen is in the folder, in `observed.json`.

const parameters = new URL(import.meta.url).searchParams;
const kind = parameters.get('observe');
const file = join(parameters.get('into') ?? '.', 'observed.json');
/** Between two samples, µs. */
const intervalMicroseconds = 100;
/** Between two sampled allocations, on average. */
const allocationBytes = 4096;

/** How finely the delay of the event loop is looked at, ms: its timer must not be a load. */
const delayResolutionMs = 5;

const session = new Session();
session.connect();
const collections: { kind: number; ms: number }[] = [];
const observer = new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    collections.push({
      kind: (entry as { detail?: { kind: number } }).detail?.kind ?? 0,
      ms: entry.duration,
    });
});

const delays = monitorEventLoopDelay({ resolution: delayResolutionMs });

let isObserving = false;
process.on('SIGUSR2', () => {
  const step = isObserving ? end() : begin();
  isObserving = !isObserving;
  step.then(
    () => {},
    (error) => process.stderr.write(`observe: ${error}\n`),
  );
});

async function begin(): Promise<void> {
  if (kind === 'cpu') {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: intervalMicroseconds });
    await session.post('Profiler.start');
  } else if (kind === 'allocation') {
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: allocationBytes,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
  } else {
    observer.observe({ entryTypes: ['gc'] });
    if (kind === 'delays') delays.enable();
  }
}

async function end(): Promise<void> {
  if (kind === 'cpu') write((await session.post('Profiler.stop')).profile);
  else if (kind === 'allocation') write((await session.post('HeapProfiler.stopSampling')).profile);
  else {
    // Entries are delivered in a turn of their own.
    const observed = () =>
      kind === 'delays' ? { collections, longestDelayMs: delays.max / 1e6 } : collections;
    setImmediate(() => setImmediate(() => write(observed())));
  }
}

function write(observed: unknown): void {
  // In one step: the bench reads the file as soon as it exists.
  writeFileSync(`${file}.part`, JSON.stringify(observed));
  renameSync(`${file}.part`, file);
}
