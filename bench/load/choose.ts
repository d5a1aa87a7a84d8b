import { autocannon } from './autocannon.ts';
import type { LoadGenerator } from './generator.ts';
import { wrk } from './wrk.ts';

/** wrk where it is installed, else autocannon. */
export function chooseLoadGenerator(): LoadGenerator {
  return wrk.version() === undefined ? autocannon : wrk;
}
