import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { engine } from './gateway.ts';

/** What `listen.engine: node` does in another way than the built-in engine, and why that is accepted. */
export interface EngineDifference {
  readonly difference: string;
  readonly reason: string;
  /** Names of the tests that the built-in engine passes and the other can't. */
  readonly tests: readonly string[];
}

/** The committed list: whatever else differs between the engines is a fault. */
export const engineDifferences: readonly EngineDifference[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../engine-differences.json'), 'utf8'),
);

const known = new Map(
  engineDifferences.flatMap(({ difference, tests }) => tests.map((test) => [test, difference] as const)),
);

/**
 * Options of a test that is skipped where the engine under test is known to differ; no options elsewhere. `way`: how the
 * test is run, where it differs in one way of running it alone.
 */
export function unlessDifferent(test: string, way = ''): { readonly skip?: string } {
  const difference = engine === 'node' ? (known.get(test) ?? known.get(`${test} (${way})`)) : undefined;
  return difference === undefined ? {} : { skip: difference };
}

const inLowerCase: ReadonlySet<string> = new Set(['Host', 'Content-Length', 'Transfer-Encoding']);

/** The name of a header that frames or addresses a request, as an upstream gets it: undici writes it in lower case. */
export function sentName(name: string): string {
  return engine === 'node' && inLowerCase.has(name) ? name.toLowerCase() : name;
}

/** Whether a header line of a request to an upstream is one that undici adds. */
export function isAddedLine(line: string): boolean {
  return engine === 'node' && (line === 'connection: keep-alive' || line === 'connection: close');
}
