import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { createHoldings } from '../../src/credentials/holdings.ts';
import { createSqliteRecords } from '../../src/stores/sqlite/records.ts';
import { hashOf, startOfTime } from './fixtures.ts';
import { temporaryFolder } from './sqlite-stores.ts';

const migrations = new URL('../../src/stores/sqlite/migrations/records/', import.meta.url);
const issuer = 'https://login.example.com';

/** Records at schema version 2: a user by a provider's group, who minted a key that minted another. */
function makeEarlierRecords(file: string): void {
  const db = new Database(file);
  for (const name of ['001-initial.sql', '002-identities.sql'])
    db.exec(readFileSync(new URL(name, migrations), 'utf8'));
  db.pragma(`application_id = ${0x50535452}`);
  db.pragma('user_version = 2');
  db.exec(
    `INSERT INTO users (id, username, canonical_name, scopes, disabled, created) VALUES ('u', 'U', 'u', '[]', 0, 1)`,
  );
  db.prepare('INSERT INTO identities VALUES (?, ?, ?, 1, ?, 1)').run(issuer, 's', 'u', '["a","b"]');
  const key = db.prepare(
    `INSERT INTO api_keys (id, hash, label, hint, scopes, created, created_by, parent)
      VALUES (?, ?, 'l', 'pst_abcd', '["a","b"]', 1, 'u', ?)`,
  );
  key.run('parent', hashOf('parent'), null);
  key.run('child', hashOf('child'), 'parent');
  db.exec(`INSERT INTO signing_keys VALUES ('kid', 'EdDSA', '{}', 7)`);
  db.close();
}

t.test('records of an earlier schema are migrated, and what they hold counts', async (t) => {
  const file = join(temporaryFolder(t), 'records.db');
  makeEarlierRecords(file);
  const store = createSqliteRecords(file, { now: () => startOfTime });
  t.teardown(() => store.close());
  t.match(await store.findUser('u'), {
    user: { kind: 'person', created: 1, updated: 1, managed: false, epoch: 0, version: 1 },
  });
  const found = await store.findApiKeyByHash(hashOf('child'));
  t.match(found, {
    key: { parent: 'parent', session: null, origin: null },
    owner: { grants: [{ issuer, subject: 's', provider: null, grants: null, scopes: ['a', 'b'] }] },
  });
  const staff = { claim: 'groups', value: 'staff', scopes: ['a'], scope_sets: [] };
  const holdings = createHoldings(new Set(['a', 'b']), { idp: { issuer, grants: [staff] } });
  const origin = { issuer, subject: 's', provider: 'idp' };
  const user = (await store.findUser('u'))!;
  t.strictSame(
    holdings.ofUser(user, origin).scopes,
    ['a'],
    'as far as a current grant of the provider gives it',
  );
  t.strictSame(holdings.ofKey(found!).scopes, [], 'but not for a key that may come of any session');
  t.strictSame([...(await store.deleteApiKey('parent', { children: true }))].sort(), ['child', 'parent']);
});

t.test('a key of an earlier schema signs access tokens on', async (t) => {
  const file = join(temporaryFolder(t), 'records.db');
  makeEarlierRecords(file);
  const store = createSqliteRecords(file, { now: () => startOfTime });
  t.teardown(() => store.close());
  const state = { created: 7, signsFrom: 7, retired: null, requested: null, lifetimeMs: 0 };
  t.strictSame((await store.signingKeys()).keys, [
    { kid: 'kid', purpose: 'access-token', algorithm: 'EdDSA', privateJwk: '{}', ...state },
  ]);
});
