import t from 'tap';
import { administratorSet } from '../../src/stores/administrator-set.ts';
import {
  createApiKey,
  createUser,
  removeUser,
  transferApiKey,
  updateUser,
} from '../support/administration/record-changes.ts';
import { eventually } from '../support/eventually.ts';
import { hashOf, newKey, newUser, startOfTime } from './fixtures.ts';
import type { RecordsFactory } from './records-suite.ts';

/** The contract of every records store for single API keys. */
export function runApiKeysSuite({ name, create }: RecordsFactory): void {
  t.test(`${name}: a key is returned complete, with owner and sets`, async (t) => {
    const { store, addScopeSet } = await create(t);
    const set = { id: 's', name: 'n', description: 'd', scopes: ['x', 'y'], created: 1, updated: 2 };
    await addScopeSet(set);
    await createUser(
      store,
      newUser('owner', { displayName: 'Owner É', email: 'o@example.com', scopes: ['a'], scopeSets: ['s'] }),
      'owner',
    );
    await createApiKey(store, newKey('parent'), hashOf('parent'));
    const key = newKey('k', {
      label: 'schlüssel 🔑',
      scopes: ['a', 'b'],
      scopeSets: ['administrator', 's'],
      parent: 'parent',
      session: 'session-1',
      origin: { issuer: 'https://login.example.com', subject: ' s/1 "ü" ', provider: 'idp' },
      expires: startOfTime + 5,
    });
    await createApiKey(store, key, hashOf('k'));
    const holdings = { scopes: ['a'], scopeSets: ['s'], grants: [], sets: [set] };
    const profile = { displayName: 'Owner É', email: 'o@example.com' };
    const owner = { id: 'owner', username: 'OWNER', ...profile, disabled: false, ...holdings };
    const expected = { key, owner, sets: [administratorSet, set], version: 1 };
    t.strictSame(await store.findApiKeyByHash(hashOf('k')), expected);
    t.strictSame(await store.findApiKey('k'), expected);
    t.equal(await store.findApiKeyByHash(hashOf('other')), undefined);
    t.equal(await store.findApiKey('other'), undefined);
    await updateUser(store, 'owner', { disabled: true });
    t.match(await store.findApiKeyByHash(hashOf('k')), { owner: { disabled: true } });
  });

  t.test(`${name}: a key that gets another owner comes of none of that owner's sessions`, async (t) => {
    const { store } = await create(t);
    for (const id of ['owner', 'heir']) await createUser(store, newUser(id), id);
    const origin = { issuer: 'https://login.example.com', subject: 's', provider: 'idp' };
    for (const id of ['given', 'inherited', 'as it is'])
      await createApiKey(store, newKey(id, { origin }), hashOf(id));
    t.match(await store.findApiKey('as it is'), { key: { origin } });
    await transferApiKey(store, 'given', 'heir');
    await removeUser(store, 'owner', { transferTo: 'heir' });
    for (const id of ['given', 'inherited'])
      t.match(await store.findApiKey(id), { key: { createdBy: 'heir', origin: null } }, id);
  });

  t.test(`${name}: the prefix of a key is kept when the key is gone`, async (t) => {
    const { store } = await create(t);
    t.strictSame(await store.apiKeyPrefixes(), []);
    await createUser(store, newUser('owner'), 'owner');
    const before = store.version();
    await createApiKey(store, newKey('k'), hashOf('k'));
    t.not(store.version(), before, 'a process that knows the prefixes notices');
    await createApiKey(store, newKey('l'), hashOf('l'));
    await createApiKey(store, newKey('m', { hint: 'acme1_wxyz' }), hashOf('m'));
    await store.deleteApiKey('m', { children: false });
    t.strictSame([...(await store.apiKeyPrefixes())].sort(), ['acme1', 'pst']);
  });

  t.test(`${name}: a revoked credential mints nothing`, async (t) => {
    const { store, advance } = await create(t);
    const refusal = { code: 'not_authenticated' };
    await t.rejects(createApiKey(store, newKey('k'), hashOf('k')), refusal, 'owner removed');
    await createUser(store, newUser('owner'), 'owner');
    await t.rejects(
      createApiKey(store, newKey('k', { parent: 'p' }), hashOf('k')),
      refusal,
      'parent deleted',
    );
    await createApiKey(store, newKey('p', { expires: startOfTime + 10 }), hashOf('p'));
    await createApiKey(store, newKey('k', { parent: 'p' }), hashOf('k'));
    await advance(10);
    await t.rejects(
      createApiKey(store, newKey('l', { parent: 'p' }), hashOf('l')),
      refusal,
      'parent expired',
    );
    await updateUser(store, 'owner', { disabled: true });
    await t.rejects(createApiKey(store, newKey('l'), hashOf('l')), refusal, 'owner disabled');
  });

  t.test(`${name}: a key that was kept when its owner was removed still mints`, async (t) => {
    const { store } = await create(t);
    await createUser(store, newUser('owner'), 'owner');
    await createApiKey(store, newKey('kept'), hashOf('kept'));
    await removeUser(store, 'owner', 'keep');
    await createApiKey(store, newKey('child', { parent: 'kept' }), hashOf('child'));
    t.match(await store.findApiKey('child'), { owner: null });
  });

  t.test(`${name}: deleting a key leaves or deletes its children`, async (t) => {
    const { store } = await create(t);
    await createUser(store, newUser('owner'), 'owner');
    const family = { a: null, 'a.1': 'a', 'a.2': 'a', 'a.1.1': 'a.1', b: null };
    for (const [id, parent] of Object.entries(family)) {
      await createApiKey(store, newKey(id, { parent }), hashOf(id));
    }
    t.strictSame(await store.deleteApiKey('a.2', { children: false }), ['a.2']);
    t.equal(await store.findApiKeyByHash(hashOf('a.2')), undefined);
    const taken = await store.deleteApiKey('a', { children: true });
    t.strictSame([...taken].sort(), ['a', 'a.1', 'a.1.1']);
    t.equal(await store.findApiKeyByHash(hashOf('a.1.1')), undefined);
    t.ok(await store.findApiKey('b'));
    t.strictSame(await store.deleteApiKey('a', { children: true }), []);
    t.strictSame(await store.deleteApiKey('a', { children: false }), []);
  });

  t.test(`${name}: children are found through deleted keys`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    await createUser(store, newUser('owner'), 'owner');
    const line = { a: null, b: 'a', c: 'b', d: 'c', e: 'd', other: 'a' };
    for (const [id, parent] of Object.entries(line))
      await createApiKey(store, newKey(id, { parent }), hashOf(id));
    for (const id of ['b', 'd', 'c']) await second.deleteApiKey(id, { children: false });
    t.match(await store.findApiKey('e'), { key: { parent: 'd' } }, 'as it was minted');
    t.strictSame([...(await store.deleteApiKey('a', { children: true }))].sort(), ['a', 'e', 'other']);
    t.strictSame(await store.deleteApiKey('a', { children: true }), []);
  });

  t.test(`${name}: a deleted key still leads to those minted with it, and to no others`, async (t) => {
    const { store } = await create(t);
    await createUser(store, newUser('owner'), 'owner');
    const line = { top: null, a: 'top', b: 'a', c: 'b', sister: 'top' };
    for (const [id, parent] of Object.entries(line))
      await createApiKey(store, newKey(id, { parent }), hashOf(id));
    for (const id of ['a', 'b']) await store.deleteApiKey(id, { children: false });
    t.strictSame(await store.deleteApiKey('a', { children: false }), [], 'it is deleted alone');
    t.strictSame(await store.deleteApiKey('a', { children: true }), ['c']);
    t.strictSame(await store.deleteApiKey('a', { children: true }), [], 'no descendants are left');
    t.strictSame([...(await store.deleteApiKey('top', { children: true }))].sort(), ['sister', 'top']);
  });

  t.test(`${name}: the owner's holdings that come with a key are the current ones`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    await createUser(store, newUser('owner', { scopes: ['x'] }), 'owner');
    await createApiKey(store, newKey('k'), hashOf('k'));
    t.match(await store.findApiKeyByHash(hashOf('k')), { owner: { scopes: ['x'], grants: [] } });
    await updateUser(second, 'owner', { scopes: ['y'], scopeSets: ['administrator'] });
    const owner = { scopes: ['y'], scopeSets: ['administrator'], sets: [administratorSet] };
    await eventually('the change is notified', async () => {
      return (await store.findApiKeyByHash(hashOf('k')))?.owner?.scopes.includes('y');
    });
    t.match(await store.findApiKeyByHash(hashOf('k')), { owner });
    t.match(await store.findApiKey('k'), { owner });
  });

  t.test(`${name}: uses are recorded without a new version, and never go back`, async (t) => {
    const { store } = await create(t);
    await createUser(store, newUser('owner'), 'owner');
    await createApiKey(store, newKey('k'), hashOf('k'));
    const version = store.version();
    await store.noteUse(
      new Map([
        ['k', 60],
        ['gone', 1],
      ]),
    );
    await store.noteUse(new Map([['k', 40]]));
    await store.noteUse(new Map());
    t.equal(store.version(), version);
    t.match(await store.findApiKey('k'), { version: 1 }, 'nor one of the key');
    t.match(await store.findApiKey('k'), { key: { lastUsed: 60 } });
  });
}
