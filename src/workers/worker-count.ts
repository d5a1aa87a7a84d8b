import { availableParallelism } from 'node:os';
import type { Config } from '../config/sections/schema.ts';

/** How many processes serve; `auto`: as many as there are CPUs that this process may use. */
export function workerCount({ workers }: Pick<Config, 'workers'>): number {
  return workers === 'auto' ? availableParallelism() : workers;
}
