import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Awaitable } from '../../src/stores/awaitable.ts';
import type { ListPage, ListPosition } from '../../src/stores/list-query.ts';
import type { Records } from '../../src/stores/records.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';

/** How many records a list is judged with. */
export const manyCount = isLong ? 100_000 : 2_000;
const pageSize = 50;
/**
 * How often a page is read: a machine that is shared may spend more on one of them, or on all within several seconds. What
 * counts is the cheapest.
 */
const [fewestReads, mostReads] = isLong ? [4, 40] : [1, 1];
const pauseMs = 250;
/**
 * The bounds of a page, ms of CPU, in the full size alone, where a scan would show. The total of what filters pass is
 * counted: it may take longer where they pass more than a quarter of all.
 */
const maxPageMs = 20;
const maxBroadMs = 40;
/** Where a text is searched in every record. */
export const maxSearchMs = 60;

/** Rows by table, as the columns have them. */
export type Rows = Readonly<Record<string, readonly object[]>>;

/** What a page is read with. */
export interface PageOf {
  readonly size: number;
  readonly from?: ListPosition;
  readonly backwards?: boolean;
}

/** One order of a list, with its filters. */
export interface ListCase {
  readonly name: string;
  readonly isFiltered: boolean;
  /** A bound of its own, ms of CPU. */
  readonly maxMs?: number;
  list(store: Records, page: PageOf): Awaitable<ListPage<unknown>>;
  idOf(item: any): string;
  /** In the order of the list. */
  readonly expected: readonly ListPosition[];
}

/** The records of a list in a store that has many of them. */
export interface ManyRecords {
  readonly what: string;
  readonly rows: Rows;
  readonly cases: readonly ListCase[];
}

/** Gives the CPU time that reading a store took so far, ms. */
export type CpuMeter = () => number;

/** That of this process. */
export const ownCpu: CpuMeter = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Judges the first page, one in the middle and the last one of each case, and what they cost. */
export async function judgePages(t: Test, store: Records, many: ManyRecords, spent: CpuMeter): Promise<void> {
  const costs: [string, number][] = [];
  for (const each of many.cases) {
    const { expected, isFiltered } = each;
    const middle = Math.floor(expected.length / 2);
    const places: [string, Omit<PageOf, 'size'>, readonly ListPosition[]][] = [
      ['first', {}, expected.slice(0, pageSize)],
      ['middle', { from: expected[middle]! }, expected.slice(middle + 1, middle + 1 + pageSize)],
      ['last', { backwards: true }, expected.slice(-pageSize)],
    ];
    for (const [place, page, positions] of places) {
      const name = `${many.what}, ${each.name}, ${place}`;
      const isBroad = isFiltered && expected.length > manyCount / 4;
      const bound = each.maxMs ?? (isBroad ? maxBroadMs : maxPageMs);
      let cost = Number.POSITIVE_INFINITY;
      for (let count = 0; count < fewestReads || (cost >= bound && count < mostReads); count += 1) {
        if (count >= fewestReads) await sleep(pauseMs);
        const before = spent();
        const { items, total } = await each.list(store, { ...page, size: pageSize });
        cost = Math.min(cost, spent() - before);
        t.equal(total, expected.length, name);
        t.strictSame(
          items.map(each.idOf),
          positions.map(({ id }) => id),
          name,
        );
      }
      costs.push([`${isFiltered ? 'filtered' : 'all'}: ${name}`, cost]);
      if (isLong) t.ok(cost < bound, `${name}: ${cost.toFixed(1)} of ${bound} ms`);
    }
  }
  for (const kind of ['all', 'filtered']) {
    const found = costs.filter(([name]) => name.startsWith(kind)).sort(([, one], [, other]) => other - one);
    const [first, last] = [found[0]!, found.at(-1)!];
    t.comment(
      `${many.what}, ${kind}: ${last[1].toFixed(1)} to ${first[1].toFixed(1)} ms of CPU (${first[0]})`,
    );
  }
}

/** Reads a whole list in pages, while something happens between them: nothing comes twice, and nothing that stayed is missed. */
export async function judgeExact(
  t: Test,
  store: Records,
  { expected, ...each }: ListCase,
  change: (page: number) => Promise<{ readonly gone?: string }>,
): Promise<void> {
  const gone = new Set<string>();
  const read: string[] = [];
  const known = new Map(expected.map((position) => [position.id, position]));
  let from: ListPosition | undefined;
  for (let count = 0; ; count += 1) {
    const page = await each.list(store, { size: 100, ...(from && { from }) });
    read.push(...page.items.map(each.idOf));
    // What came in the meantime is not where it would have to be known.
    const last = page.items.map(each.idOf).findLast((id) => known.has(id));
    if (last === undefined || !page.after) break;
    from = known.get(last)!;
    read.length = read.lastIndexOf(last) + 1;
    const changed = await change(count);
    if (changed.gone !== undefined) gone.add(changed.gone);
  }
  const seen = new Set(read);
  t.equal(seen.size, read.length, `${each.name}: nothing twice`);
  const missed = expected.filter(({ id }) => !gone.has(id) && !seen.has(id));
  t.strictSame(missed, [], `${each.name}: nothing missed`);
}
