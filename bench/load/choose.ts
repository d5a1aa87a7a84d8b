import { autocannon } from './autocannon.ts';
import type { LoadGenerator, PacedGenerator } from './generator.ts';
import { pacedLoad } from './paced-load.ts';
import { wrk } from './wrk.ts';

/** wrk where it is installed, else autocannon. */
export function chooseLoadGenerator(): LoadGenerator {
  return wrk.version() === undefined ? autocannon : wrk;
}

/** The benchmark's own where it is built, else autocannon, whose timers tick in milliseconds. */
export function choosePacedGenerator(): PacedGenerator {
  return pacedLoad.version() === undefined ? autocannon : pacedLoad;
}
