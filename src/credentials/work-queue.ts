import { Refusal } from '../errors.ts';

/** How much of a queue's work goes on, and how much is still to begin. */
export interface WorkLoad {
  readonly running: number;
  readonly waiting: number;
}

/** Runs work with a bound on how much runs and how much waits. */
export interface WorkQueue {
  /** Rejects at once with {@link Refusal} `overloaded` when the queue is full. First come, first served. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** How many pieces of work run and wait now. */
  load(): WorkLoad;
}

/** Creates a queue that runs `concurrency` pieces of work at a time and lets `queue` more wait. */
export function createWorkQueue(bounds: { readonly concurrency: number; readonly queue: number }): WorkQueue {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (running < bounds.concurrency) {
      running++;
    } else if (waiting.length < bounds.queue) {
      // Whoever finishes hands its place on, so `running` stays as it is.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      throw new Refusal('overloaded');
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  }

  return { run, load: () => ({ running, waiting: waiting.length }) };
}
