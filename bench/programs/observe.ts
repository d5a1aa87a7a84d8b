import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';

// Loaded into a process before its program, by `--import FILE?observe=cpu|allocation|collections&into=FOLDER`. SIGUSR2
// begins to observe, the next one ends it: then what was seen is in the folder, in `observed.json`.

const parameters = new URL(import.meta.url).searchParams;
const kind = parameters.get('observe');
const file = join(parameters.get('into') ?? '.', 'observed.json');
/** Between two samples, µs. */
const intervalMicroseconds = 100;
/** Between two sampled allocations, on average. */
const allocationBytes = 4096;

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
  } else observer.observe({ entryTypes: ['gc'] });
}

async function end(): Promise<void> {
  if (kind === 'cpu') write((await session.post('Profiler.stop')).profile);
  else if (kind === 'allocation') write((await session.post('HeapProfiler.stopSampling')).profile);
  else {
    // Entries are delivered in a turn of their own.
    setImmediate(() => setImmediate(() => write(collections)));
  }
}

function write(observed: unknown): void {
  // In one step: the bench reads the file as soon as it exists.
  writeFileSync(`${file}.part`, JSON.stringify(observed));
  renameSync(`${file}.part`, file);
}
