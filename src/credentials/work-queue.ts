import { Refusal } from '../errors.ts';

/** Counts of a queue's tasks. */
export interface WorkLoad {
  readonly running: number;
  readonly waiting: number;
}

/** Runs work with bounds on concurrency and on the queue. */
export interface WorkQueue {
  /** Runs work, first come, first served. Rejects at once with {@link Refusal} `overloaded` when the queue is full. */
  run<T>(work: () => Promise<T>): Promise<T>;
  load(): WorkLoad;
}

/** Creates a queue that runs `concurrency` tasks at a time and lets `queue` more wait. */
export function createWorkQueue(bounds: { readonly concurrency: number; readonly queue: number }): WorkQueue {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (running < bounds.concurrency) {
      running++;
    } else if (waiting.length < bounds.queue) {
      // A finished task hands its slot on, so `running` doesn't change.
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
