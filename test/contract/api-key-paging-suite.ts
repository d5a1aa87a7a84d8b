import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { ApiKey, ApiKeyFilterField, ApiKeyQuery } from '../../src/stores/api-key.ts';
import type { FieldFilter, FilterOperator } from '../../src/stores/list-query.ts';
import type { Records } from '../../src/stores/records.ts';
import {
  createApiKey,
  createUser,
  removeUser,
  updateUser,
} from '../support/administration/record-changes.ts';
import { expectedIds, positionOf } from './api-key-model.ts';
import { hashOf, newKey, newUser, startOfTime } from './fixtures.ts';
import type { RecordsFactory } from './records-suite.ts';

/** Few values, so that ties are common; labels whose order by code points differs from that by UTF-16. */
const someKey = fc.record({
  label: fc.constantFrom('a', 'B', 'b', '\u{fffd}', '🔑', '50%_\\', 'Ä', 'ä'),
  created: fc.integer({ min: 0, max: 5 }),
  expires: fc.option(fc.integer({ min: 0, max: 5 })),
  createdBy: fc.constantFrom('owner', 'disabled', 'removed'),
  scopes: fc.subarray(['a', 'a:b', 'b']),
});

type Filters = ApiKeyQuery['filters'];

const filter = (
  field: ApiKeyFilterField,
  operator: FilterOperator,
  value: fc.Arbitrary<FieldFilter['value']>,
): fc.Arbitrary<Filters> => value.map((value) => [{ field, operator, value }]);

const someComparisons: fc.Arbitrary<Filters> = fc.array(
  fc.record({
    field: fc.constantFrom('created' as const, 'expires' as const, 'last_used' as const),
    operator: fc.constantFrom('gt' as const, 'gte' as const, 'lt' as const, 'lte' as const),
    value: fc.integer({ min: 0, max: 5 }),
  }),
  { maxLength: 2 },
);

/** Each of them, or not. */
const someFilters: fc.Arbitrary<Filters> = fc
  .tuple(
    ...[
      filter('label', 'contains', fc.constantFrom('', 'B', '%', '_', '\\', 'ä', 'zz')),
      filter('label', 'eq', fc.constantFrom('B', 'ä', 'zz')),
      someComparisons,
      filter('expires', 'isnull', fc.boolean()),
      filter('last_used', 'isnull', fc.boolean()),
      filter('scopes', 'contains', fc.subarray(['a', 'b'])),
      filter('created_by', 'eq', fc.constantFrom('owner', 'disabled', 'removed')),
      filter('status', 'eq', fc.constantFrom('active', 'expired', 'suspended')),
    ].map((filters) => fc.option(filters, { nil: [] })),
  )
  .map((filters) => filters.flat());

const sortOrder = fc.constantFrom('asc' as const, 'desc' as const);

class KeyRing {
  readonly keys = new Map<string, ApiKey>();
  readonly store: Records;
  private made = 0;

  constructor(store: Records) {
    this.store = store;
  }

  async add(changes: Partial<ApiKey>): Promise<void> {
    this.made += 1;
    // Ids in another order than time, as ids break ties.
    const key = newKey(`${(this.made * 7919) % 1009}`, changes);
    this.keys.set(key.id, key);
    await createApiKey(this.store, key, hashOf(key.id));
  }

  async remove(id: string): Promise<void> {
    this.keys.delete(id);
    await this.store.deleteApiKey(id, { children: false });
  }
}

/** Users as named by {@link someKey}; keys of the other two are created before they change. */
async function withOwners(store: Records, addKeys: (ring: KeyRing) => Promise<void>): Promise<KeyRing> {
  const ring = new KeyRing(store);
  for (const id of ['owner', 'disabled', 'removed']) await createUser(store, newUser(id), id);
  await addKeys(ring);
  await updateUser(store, 'disabled', { disabled: true });
  await removeUser(store, 'removed', 'keep');
  return ring;
}

/** The contract of every records store for listing API keys. */
export function runApiKeyPagingSuite({ name, create }: RecordsFactory): void {
  t.test(`${name}: any filter and order gives the same as brute force`, async (t) => {
    const { store } = await create(t);
    const ring = await withOwners(store, async (ring) => {
      for (const key of fc.sample(someKey, { numRuns: 60, seed: 1 })) await ring.add(key);
    });
    const used = [...ring.keys.values()].filter((_, index) => index % 3 === 0);
    await store.noteUse(new Map(used.map(({ id }, index) => [id, index % 6])));
    const keys: ApiKey[] = [];
    for (const id of ring.keys.keys()) keys.push((await store.findApiKey(id))!.key);

    const sortBy = fc.constantFrom(
      'created' as const,
      'label' as const,
      'expires' as const,
      'last_used' as const,
    );
    const query = fc.record({
      sortBy,
      sortOrder,
      filters: someFilters,
      size: fc.integer({ min: 1, max: 70 }),
    });
    await fc.assert(
      fc.asyncProperty(
        query,
        fc.nat(),
        fc.boolean(),
        fc.boolean(),
        async (query, nth, backwards, inclusive) => {
          const full = { ...query, now: 3 };
          const ids = expectedIds(keys, full, new Set(['disabled']));
          const page = await store.listApiKeys(full);
          assert.deepEqual(
            page.items.map(({ key }) => key.id),
            ids.slice(0, query.size),
          );
          assert.equal(page.total, ids.length);
          assert.equal(page.before, false);
          assert.equal(page.after, ids.length > query.size);
          if (ids.length === 0) return;

          const at = nth % ids.length;
          const from = positionOf(keys.find(({ id }) => id === ids[at])!, query.sortBy);
          const next = await store.listApiKeys({ ...full, from, backwards, inclusive });
          const rest = backwards ? ids.slice(0, inclusive ? at + 1 : at) : ids.slice(inclusive ? at : at + 1);
          const expected = backwards ? rest.slice(-query.size) : rest.slice(0, query.size);
          assert.deepEqual(
            next.items.map(({ key }) => key.id),
            expected,
          );
          assert.equal(next.total, ids.length);
          const beyond = rest.length > query.size;
          const behind = rest.length < ids.length;
          assert.equal(next.before, backwards ? beyond : behind);
          assert.equal(next.after, backwards ? behind : beyond);
        },
      ),
      { numRuns: 400 },
    );
  });

  t.test(`${name}: paging is exact while keys are created and deleted`, async (t) => {
    const { store } = await create(t);
    const ring = await withOwners(store, async () => {});
    const ownKey = someKey.map((key) => ({ ...key, createdBy: 'owner' }));
    const turns = fc.infiniteStream(
      fc.record({ added: fc.array(ownKey, { maxLength: 2 }), removed: fc.nat() }),
    );
    const sortBy = fc.constantFrom('created' as const, 'label' as const, 'expires' as const);
    await fc.assert(
      fc.asyncProperty(
        sortBy,
        sortOrder,
        fc.boolean(),
        turns,
        async (sortBy, sortOrder, backwards, turns) => {
          while (ring.keys.size < 25) await ring.add(turns.next().value!.added[0] ?? { createdBy: 'owner' });
          const query: ApiKeyQuery = { sortBy, sortOrder, backwards, filters: [], size: 4, now: startOfTime };
          const steady = new Set(ring.keys.keys());
          const walk: ApiKey[] = [];
          let page = await store.listApiKeys(query);
          while (page.items.length > 0) {
            const keys = page.items.map(({ key }) => key);
            if (backwards) keys.reverse();
            walk.push(...keys);
            const { added, removed } = turns.next().value!;
            for (const key of added) await ring.add(key);
            // The key at the cursor, or any other.
            const ids = [keys.at(-1)!.id, ...ring.keys.keys()];
            const doomed = ids[removed % ids.length]!;
            await ring.remove(doomed);
            if (!walk.some(({ id }) => id === doomed)) steady.delete(doomed);
            page = await store.listApiKeys({ ...query, from: positionOf(keys.at(-1)!, sortBy) });
          }
          const seen = walk.map(({ id }) => id);
          assert.equal(new Set(seen).size, seen.length, 'nothing twice');
          assert.deepEqual(
            [...steady].filter((id) => !seen.includes(id)),
            [],
            'nothing missed',
          );
          const inOrder = expectedIds(walk, query, new Set());
          assert.deepEqual(backwards ? seen.reverse() : seen, inOrder, 'in order');
        },
      ),
      { numRuns: 25 },
    );
  });
}
