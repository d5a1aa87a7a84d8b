import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { engine } from '../gateway/gateway.ts';
import { type CorpusRow, expectationOf } from './corpus.ts';

/** What `listen.engine: node` does in another way than the built-in engine, and why that is accepted. */
export interface EngineDifference {
  readonly difference: string;
  readonly reason: string;
  /** How the warning at start names it, if the other engine accepts what the built-in one refuses. */
  readonly not_refused?: string;
  /** By the name of a test: what it expects of the other engine in place of what it expects of the built-in one. */
  readonly tests: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The committed list: whatever else differs between the engines is a fault. */
export const engineDifferences: readonly EngineDifference[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../engine-differences.json'), 'utf8'),
);

/** What a test prints before the name of each result of the list that it asserts. */
export const noteOfDifference = '# differs: ';

const noted = new Set<string>();
const listed = new Map(engineDifferences.flatMap(({ tests }) => Object.entries(tests)));

/**
 * What a test expects of the engine under test: `builtIn`, with what the list says of the other engine in its place.
 * Throws if the list says nothing else than `builtIn`.
 */
export function expected<Result extends object>(test: string, builtIn: Result): Result {
  const others = listedFor(test);
  if (others === undefined) return builtIn;
  const result = { ...builtIn, ...others };
  for (const key of Object.keys(others))
    if (!(key in builtIn)) throw new Error(`${test}: the list names ${key}, which the test does not expect`);
  if (isDeepStrictEqual(result, builtIn))
    throw new Error(`${test}: the list says nothing else than the test`);
  return result;
}

/** The same for a row of a corpus, whose members the list may replace, add, or remove by null. */
export function expectedRow<Row extends CorpusRow>(row: Row): Row {
  const others = listedFor(row.name);
  if (others === undefined) return row;
  const members = Object.entries({ ...row, ...others }).filter(([, value]) => value !== null);
  const result = Object.fromEntries(members) as unknown as Row;
  const inFull = (each: Row) => [expectationOf(each, 'GET /'), each.code, each.body, each.has];
  if (isDeepStrictEqual(inFull(result), inFull(row)))
    throw new Error(`${row.name}: the list says nothing else than the row`);
  return result;
}

/** The result that is listed for a test, on the other engine. */
function listedFor(test: string): object | undefined {
  const result = listed.get(test);
  if (engine !== 'node' || result === undefined) return undefined;
  if (!noted.has(test)) process.stdout.write(`${noteOfDifference}${test}\n`);
  noted.add(test);
  return result;
}

/** How a request to an upstream carries the headers that the engine itself writes. */
function writtenHeaders() {
  return expected('the headers that an engine writes itself', {
    Host: 'Host',
    'Content-Length': 'Content-Length',
    'Transfer-Encoding': 'Transfer-Encoding',
    connection: [] as readonly string[],
  });
}

/** The name of a header that frames or addresses a request, as an upstream gets it. */
export function sentName(name: 'Host' | 'Content-Length' | 'Transfer-Encoding'): string {
  return writtenHeaders()[name];
}

/** The values of the `Connection` that an upstream gets with a request for no other protocol. */
export function sentConnection(): readonly string[] {
  return writtenHeaders().connection;
}
