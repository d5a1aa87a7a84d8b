import { randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import t from 'tap';
import type { ApiKey, ApiKeyQuery } from '../../src/stores/api-key.ts';
import { createUser } from '../support/administration/record-changes.ts';
import { expectedIds, positionOf } from './api-key-model.ts';
import { hashOf, newKey, newUser, startOfTime } from './fixtures.ts';
import { createSqliteRecordsUnderTest } from './sqlite-stores.ts';

const isLong = process.env.POSTERN_TEST_LONG !== undefined;
const keyCount = isLong ? 100_000 : 5_000;
const day = 86_400_000;

const filterCases: readonly [string, ApiKeyQuery['filters']][] = [
  ['none', []],
  ['a part of few labels', [{ field: 'label', operator: 'contains', value: 'KEY 123' }]],
  ['created', [{ field: 'created', operator: 'lt', value: startOfTime + 20 * day }]],
  ['expiry', [{ field: 'expires', operator: 'gte', value: startOfTime + 90 * day }]],
  ['use', [{ field: 'last_used', operator: 'isnull', value: false }]],
  ['a scope', [{ field: 'scopes', operator: 'contains', value: ['store:write'] }]],
  ['owner', [{ field: 'created_by', operator: 'eq', value: 'user-7' }]],
  ['expired', [{ field: 'status', operator: 'eq', value: 'expired' }]],
];

function makeKeys(): ApiKey[] {
  return Array.from({ length: keyCount }, (_, index) => {
    const spread = (index * 7919) % keyCount;
    return newKey(randomUUID(), {
      label: `key ${spread}`,
      created: startOfTime + (spread % 100) * day,
      expires: index % 2 ? null : startOfTime + (spread % 200) * day,
      lastUsed: index % 3 ? null : startOfTime + spread,
      createdBy: `user-${index % 50}`,
      scopes: index % 5 ? ['store:read'] : ['store:read', 'store:write'],
    });
  });
}

/** One transaction, where the store would need one for each. */
function insertAll(file: string, keys: readonly ApiKey[]): void {
  const db = new Database(file);
  const insert = db.prepare(
    `INSERT INTO api_keys (id, hash, label, hint, scopes, created, created_by, parent, expires, last_used)
      VALUES (@id, @hash, @label, @hint, @scopes, @created, @createdBy, @parent, @expires, @lastUsed)`,
  );
  db.transaction(() => {
    for (const { scopeSets: _, ...key } of keys) {
      insert.run({ ...key, hash: hashOf(key.id), scopes: JSON.stringify(key.scopes) });
    }
  })();
  db.close();
}

t.test(`sqlite: ${keyCount} keys are listed as brute force lists them`, async (t) => {
  const { store, file } = createSqliteRecordsUnderTest(t);
  for (let index = 0; index < 50; index += 1)
    await createUser(store, newUser(`user-${index}`), `user-${index}`);
  const keys = makeKeys();
  insertAll(file, keys);
  const byId = new Map(keys.map((key) => [key.id, key]));

  for (const sortBy of ['created', 'label', 'expires', 'last_used'] as const) {
    for (const [name, filters] of filterCases) {
      const query: ApiKeyQuery = {
        sortBy,
        sortOrder: 'desc',
        filters,
        size: 50,
        now: startOfTime + 50 * day,
      };
      const ids = expectedIds(keys, query, new Set());
      const middle = Math.floor(ids.length / 2);
      const from = positionOf(byId.get(ids[middle]!)!, sortBy);
      const before = process.cpuUsage();
      const page = await store.listApiKeys({ ...query, from });
      const { user, system } = process.cpuUsage(before);
      t.strictSame(
        page.items.map(({ key }) => key.id),
        ids.slice(middle + 1, middle + 51),
        `${sortBy}, filter: ${name}`,
      );
      t.equal(page.total, ids.length);
      if (isLong) t.ok(user + system < 40_000, `${sortBy}, filter: ${name}: ${(user + system) / 1_000} ms`);
      if (isLong && name === 'none') t.ok(user + system < 20_000);
    }
  }
});
