import t from 'tap';
import type { ApiKey } from '../../src/stores/api-key.ts';
import {
  type KeyAdministration,
  startKeyAdministration,
} from '../support/administration/key-administration.ts';
import { storedKey, storeKeys } from '../support/stores/stored-keys.ts';

const isLong = process.env.POSTERN_TEST_LONG !== undefined;
const keyCount = isLong ? 10_000 : 600;
const start = Date.UTC(2026, 0, 1);

/** The same numbers each time. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

/** What the list should hold, beside what it holds. */
class Model {
  readonly keys = new Map<string, ApiKey>();
  readonly #administration: KeyAdministration;
  readonly #random: (below: number) => number;

  constructor(administration: KeyAdministration, random: (below: number) => number) {
    this.#administration = administration;
    this.#random = random;
  }

  /** Keys of any place in every order, with many ties. */
  store(count: number): void {
    const random = this.#random;
    const { folder, administratorId } = this.#administration;
    const keys = Array.from({ length: count }, () =>
      storedKey(administratorId, {
        label: `${'aB🔑\u{fffd}'.slice(0, random(4))}${random(keyCount / 4)}`,
        created: start + random(keyCount / 2),
        expires: random(3) === 0 ? null : start + 10 ** 12 + random(keyCount / 4),
      }),
    );
    storeKeys(folder, keys);
    for (const key of keys) this.keys.set(key.id, key);
  }

  async mint(): Promise<void> {
    const expires = new Date(start + 10 ** 12 + this.#random(keyCount / 4)).toISOString();
    const { id, label, created } = await this.#administration.mint({ label: `${this.#random(9)}`, expires });
    this.keys.set(
      id,
      storedKey('', { id, label, created: Date.parse(created), expires: Date.parse(expires) }),
    );
  }

  async remove(id: string): Promise<void> {
    if (!this.keys.delete(id)) return;
    const { status } = await this.#administration.call('DELETE', id);
    if (status !== 204) throw new Error(`deleting was answered ${status}`);
  }

  any(): string {
    return [...this.keys.keys()][this.#random(this.keys.size)]!;
  }
}

type SortBy = 'created' | 'label' | 'expires';

/** The order of the contract: label by code points, no expiry the far future, ties by id. */
function compare(a: ApiKey, b: ApiKey, sortBy: SortBy): number {
  const [left, right] =
    sortBy === 'label'
      ? [Buffer.compare(Buffer.from(a.label), Buffer.from(b.label)), 0]
      : [a[sortBy] ?? Number.MAX_SAFE_INTEGER, b[sortBy] ?? Number.MAX_SAFE_INTEGER];
  return left - right || (a.id < b.id ? -1 : 1);
}

t.test(`${keyCount} keys are paged exactly while keys come and go`, async (t) => {
  const administration = await startKeyAdministration(t);
  const random = createRandom(keyCount);
  const model = new Model(administration, random);
  model.store(keyCount);

  async function churn(pageIds: readonly string[]): Promise<void> {
    model.store(1 + random(3));
    await model.mint();
    // The ends of the page just read, by which cursors are made, and any other.
    for (const doomed of [pageIds[0]!, pageIds.at(-1)!, model.any(), model.any()])
      if (random(2) === 0) await model.remove(doomed);
  }

  async function walk(
    query: string,
    sortBy: SortBy,
    sign: 1 | -1,
    from: string,
    way: string,
  ): Promise<string> {
    const name = `${query} ${way}`;
    const steady = new Set(model.keys.keys());
    const seen: ApiKey[] = [];
    let cursor = from;
    for (let next: string | null = from; next !== null; ) {
      cursor = next;
      const { status, json } = await administration.call('GET', `?${query}${cursor && `&cursor=${cursor}`}`);
      if (status !== 200) throw new Error(`${name} was answered ${status}`);
      if (json.total !== model.keys.size) t.fail(`${name}: total ${json.total} of ${model.keys.size}`);
      const ids: string[] = json.items.map(({ id }: { id: string }) => id);
      if (way === 'previous_page') ids.reverse();
      seen.push(...ids.map((id) => model.keys.get(id)!));
      next = json[way];
      await churn(ids);
      // Deleted before its page came: missed by right. Read before: it stays in `steady` and was seen.
      for (const id of steady)
        if (!model.keys.has(id) && !seen.some((key) => key.id === id)) steady.delete(id);
    }
    const ids = seen.map(({ id }) => id);
    const once = new Set(ids);
    t.equal(once.size, ids.length, `${name}: nothing twice`);
    t.strictSame(
      [...steady].filter((id) => !once.has(id)),
      [],
      `${name}: nothing missed`,
    );
    const direction = way === 'next_page' ? sign : -sign;
    const sorted = seen.toSorted((a, b) => direction * compare(a, b, sortBy));
    t.strictSame(
      ids,
      sorted.map(({ id }) => id),
      `${name}: in order`,
    );
    return cursor;
  }

  for (const sortBy of ['created', 'label', 'expires'] as const)
    for (const [order, sign] of [
      ['asc', 1],
      ['desc', -1],
    ] as const) {
      const query = `sort_by=${sortBy}&sort_order=${order}&size=100`;
      const last = await walk(query, sortBy, sign, '', 'next_page');
      await walk(query, sortBy, sign, last, 'previous_page');
    }
});

t.test('a list of 50 from 100,000 keys takes 20 ms of CPU at most', { skip: !isLong }, async (t) => {
  const administration = await startKeyAdministration(t);
  const model = new Model(administration, createRandom(1));
  model.store(100_000);
  const { call } = administration;

  async function medianCpuMs(query: string): Promise<number> {
    const costs: number[] = [];
    for (let round = 0; round < 21; round += 1) {
      const before = process.cpuUsage();
      const { json } = await call('GET', query);
      const { user, system } = process.cpuUsage(before);
      if (json.items.length !== 50 || json.total !== 100_000)
        throw new Error('not the list that was asked for');
      costs.push((user + system) / 1_000);
    }
    return costs.sort((a, b) => a - b)[10]!;
  }

  for (const sortBy of ['created', 'label', 'expires', 'last_used'])
    for (const order of ['asc', 'desc']) {
      const query = `?sort_by=${sortBy}&sort_order=${order}&size=50`;
      let { json } = await call('GET', query);
      for (let pages = 0; pages < 20; pages += 1)
        json = (await call('GET', `${query.replace('50', '100')}&cursor=${json.next_page}`)).json;
      for (const [name, cursor] of [
        ['first page', ''],
        ['next', `&cursor=${json.next_page}`],
        ['previous', `&cursor=${json.previous_page}`],
      ]) {
        const costMs = await medianCpuMs(query + cursor);
        t.ok(costMs < 20, `${sortBy} ${order}, ${name}: ${costMs} ms`);
      }
    }
});
