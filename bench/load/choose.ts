import { autocannon } from './autocannon.ts';
import type { LoadGenerator } from './generator.ts';
import { wrk } from './wrk.ts';

/** wrk where it is installed, else autocannon. */
export function chooseLoadGenerator(): LoadGenerator {
  const generator = [wrk, autocannon].find((candidate) => candidate.version() !== undefined);
  if (generator === undefined) throw new Error('neither wrk nor autocannon is installed');
  return generator;
}
