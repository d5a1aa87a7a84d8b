import t from 'tap';
import { administratorSet } from '../../src/stores/administrator-set.ts';
import type { IdentityClaims, NewIdentityUser } from '../../src/stores/identity.ts';
import type { ScopeSet } from '../../src/stores/scope-set.ts';
import {
  createApiKey,
  createUser,
  linkIdentity,
  listUsers,
  removeUser,
  unlinkIdentity,
  updateUser,
} from '../support/administration/record-changes.ts';
import { hashOf, newKey, newUser, startOfTime } from './fixtures.ts';
import type { RecordsFactory } from './records-suite.ts';

const issuer = 'https://login.example.com';

function claimsOf(subject: string, changes: Partial<IdentityClaims> = {}): IdentityClaims {
  return { issuer, subject, displayName: null, email: null, scopes: [], scopeSets: [], ...changes };
}

function userNamed(id: string, ...names: string[]): NewIdentityUser {
  return {
    id,
    created: startOfTime,
    names: names.map((name) => ({ username: name, canonicalName: name.toLowerCase() })),
  };
}

const setOf = (id: string): ScopeSet => ({
  ...{ id, name: id, description: '', scopes: ['a'] },
  ...{ created: 1, updated: 2 },
});

/** The contract of every records store for identities at providers. */
export function runIdentitiesSuite({ name, create }: RecordsFactory): void {
  t.test(`${name}: a first sign-in creates a user, and the next one finds it`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    const claims = claimsOf('s1', { displayName: 'Ada', email: 'ada@example.com', scopes: ['x'] });
    const first = await store.acceptIdentity(claims, userNamed('u1', 'Ada'));
    t.match(first, { found: { user: { id: 'u1', username: 'Ada', passwordHash: null } } });
    t.equal(first?.before, undefined);
    t.match(first?.found, { user: { displayName: 'Ada', email: 'ada@example.com' } });
    const unknown = { provider: null, grants: null };
    t.strictSame(first?.found.grants, [{ issuer, subject: 's1', ...unknown, scopes: ['x'], scopeSets: [] }]);
    const next = await second.acceptIdentity(claims, userNamed('u2', 'Ada'));
    t.match(next, { found: { user: { id: 'u1' } } });
    t.strictSame(next?.before, next?.found, 'which changes nothing');
    t.strictSame(await second.findUser('u1'), first?.found);
    t.strictSame(await store.identitiesOf('u1'), [{ issuer, subject: 's1', madeUser: true }]);
  });

  t.test(`${name}: without a user to create an unknown identity stays unknown`, async (t) => {
    const { store } = await create(t);
    t.equal(await store.acceptIdentity(claimsOf('s1'), null), undefined);
    t.strictSame(await listUsers(store), []);
  });

  t.test(`${name}: a local user of the same name is another person`, async (t) => {
    const { store } = await create(t);
    await createUser(store, newUser('local', { username: 'ada', email: 'ada@example.com' }), 'ada');
    const claims = claimsOf('s1', { email: 'ada@example.com' });
    const made = await store.acceptIdentity(claims, userNamed('u1', 'Ada', 'Ada (idp)'));
    t.match(made?.found.user, { id: 'u1', username: 'Ada (idp)' });
    t.match(await store.findUserByName('ada'), { user: { id: 'local' } });
    await t.rejects(store.acceptIdentity(claimsOf('s2'), userNamed('u2', 'Ada')), { code: 'conflict' });
    t.equal((await listUsers(store)).length, 2);
  });

  t.test(`${name}: the account is issuer and subject together, byte for byte`, async (t) => {
    const { store } = await create(t);
    const ids = new Set<string>();
    const others = [{ subject: 'S1' }, { subject: 's1 ' }, { issuer: `${issuer}/`, subject: 's1' }];
    for (const [index, identity] of [{ subject: 's1' }, ...others].entries()) {
      const made = await store.acceptIdentity(
        { ...claimsOf('s1'), ...identity },
        userNamed(`u${index}`, `n${index}`),
      );
      ids.add(made!.found.user.id);
    }
    t.equal(ids.size, 4);
  });

  t.test(`${name}: of many concurrent first sign-ins, one creates the user`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    const made = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 ? store : second).acceptIdentity(claimsOf('s1'), userNamed(`u${index}`, `n${index}`)),
      ),
    );
    t.equal(new Set(made.map((response) => response?.found.user.id)).size, 1);
    t.equal(made.filter((response) => response !== undefined && response.before === undefined).length, 1);
    t.equal((await listUsers(store)).length, 1);
  });

  t.test(`${name}: grants are replaced, and the user's own holdings stay`, async (t) => {
    const { store, addScopeSet } = await create(t);
    await addScopeSet(setOf('s'));
    await createUser(store, newUser('local', { scopes: ['own', 'x'], scopeSets: ['s'] }), 'local');
    await linkIdentity(store, 'local', { issuer, subject: 's1' });
    const granting = claimsOf('s1', {
      displayName: 'no',
      scopes: ['x', 'y'],
      scopeSets: ['administrator', 'nowhere'],
    });
    const before = store.version();
    t.match(await store.acceptIdentity(granting, null), {
      before: { user: { id: 'local' }, grants: [{ issuer, scopes: [] }] },
      found: {
        user: { id: 'local', displayName: null, scopes: ['own', 'x'], scopeSets: ['s'] },
        grants: [{ issuer, grants: null, scopes: ['x', 'y'], scopeSets: ['administrator', 'nowhere'] }],
        sets: [administratorSet, setOf('s')],
      },
    });
    t.not(store.version(), before);
    const settled = store.version();
    await store.acceptIdentity(granting, null);
    t.equal(store.version(), settled, 'a sign-in that changes nothing invalidates no cache');
    t.match(await store.acceptIdentity(claimsOf('s1', { scopes: ['y'] }), null), {
      found: { user: { scopes: ['own', 'x'] }, grants: [{ scopes: ['y'], scopeSets: [] }] },
    });
    t.match(await store.acceptIdentity(claimsOf('s1'), null), {
      found: { user: { scopes: ['own', 'x'], scopeSets: ['s'] }, grants: [{ scopes: [], scopeSets: [] }] },
    });
  });

  t.test(`${name}: a change of the user leaves the provider's grants as they are`, async (t) => {
    const { store, addScopeSet } = await create(t);
    await addScopeSet(setOf('t'));
    await store.acceptIdentity(claimsOf('s1', { scopes: ['x'], scopeSets: ['s'] }), userNamed('u1', 'a'));
    t.match(await updateUser(store, 'u1', { scopes: ['own'], scopeSets: ['t'] }), { scopes: ['own'] });
    const grants = [{ scopes: ['x'], scopeSets: ['s'] }];
    t.match(await store.findUser('u1'), { user: { scopes: ['own'], scopeSets: ['t'] }, grants });
    await updateUser(store, 'u1', { scopes: [], scopeSets: [] });
    t.match(await store.findUser('u1'), { user: { scopes: [], scopeSets: [] }, grants });
  });

  t.test(`${name}: a disabled user is returned unchanged`, async (t) => {
    const { store } = await create(t);
    await store.acceptIdentity(claimsOf('s1'), userNamed('u1', 'a'));
    await updateUser(store, 'u1', { disabled: true });
    const response = await store.acceptIdentity(claimsOf('s1', { scopes: ['x'], displayName: 'A' }), null);
    t.match(response, { found: { user: { disabled: true, displayName: null } } });
    t.strictSame(response?.before, response?.found);
    t.match(response?.found.grants, [{ issuer, grants: null, scopes: [], scopeSets: [] }]);
  });

  t.test(`${name}: an identity belongs to one user, until it is unlinked`, async (t) => {
    const { store } = await create(t);
    for (const id of ['a', 'b']) await createUser(store, newUser(id), id);
    const identity = { issuer, subject: 's1' };
    t.equal(await linkIdentity(store, 'nobody', identity), undefined);
    t.match(await linkIdentity(store, 'a', identity), { user: { id: 'a' } });
    for (const id of ['a', 'b']) await t.rejects(linkIdentity(store, id, identity), { code: 'conflict' });
    t.strictSame(await store.identitiesOf('a'), [{ ...identity, madeUser: false }]);
    t.equal(await unlinkIdentity(store, 'b', identity), undefined);
    t.match(await unlinkIdentity(store, 'a', identity), { user: { id: 'a' } });
    t.ok((await store.findUser('a'))!.user.epoch > 0, 'its sessions end');
    t.equal(await unlinkIdentity(store, 'a', identity), undefined);
    t.equal(await store.acceptIdentity(claimsOf('s1'), null), undefined);
    t.strictSame(await store.identitiesOf('a'), []);
  });

  t.test(`${name}: a removed user's identity creates a new one at the next sign-in`, async (t) => {
    const { store } = await create(t);
    await store.acceptIdentity(claimsOf('s1'), userNamed('u1', 'a'));
    await removeUser(store, 'u1');
    t.equal(await store.acceptIdentity(claimsOf('s1'), null), undefined);
    const again = await store.acceptIdentity(claimsOf('s1'), userNamed('u2', 'a'));
    t.equal(again?.found.user.id, 'u2');
  });

  t.test(`${name}: the names of the grants are stored, and updated on their own, too`, async (t) => {
    const { store } = await create(t);
    const granted = claimsOf('s1', { scopes: ['x'], grants: ['["groups","b"]', '["groups","a"]'] });
    const made = await store.acceptIdentity(granted, userNamed('u1', 'a'));
    const sorted = ['["groups","a"]', '["groups","b"]'];
    t.match(made?.found, { grants: [{ issuer, grants: sorted, scopes: ['x'] }] });
    const before = store.version();
    await store.acceptIdentity(granted, null);
    t.equal(store.version(), before, 'the same in another order is no change');
    await store.acceptIdentity({ ...granted, grants: ['["groups","a"]'] }, null);
    t.match(await store.findUser('u1'), { grants: [{ grants: ['["groups","a"]'], scopes: ['x'] }] });
    t.not(store.version(), before);
  });

  t.test(`${name}: which identity was granted something, and by which provider, is stored`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    const granted = claimsOf('s1', { scopes: ['x'], scopeSets: ['s'], grants: ['g'], provider: 'idp' });
    await store.acceptIdentity(granted, userNamed('u1', 'a'));
    await linkIdentity(store, 'u1', { issuer, subject: 's2' });
    const first = { issuer, subject: 's1', provider: 'idp', grants: ['g'], scopes: ['x'], scopeSets: ['s'] };
    const linked = { issuer, subject: 's2', provider: null, grants: null, scopes: [], scopeSets: [] };
    const grantsOf = async () =>
      [...(await second.findUser('u1'))!.grants].sort((a, b) => (a.subject < b.subject ? -1 : 1));
    t.strictSame(await grantsOf(), [first, linked]);
    const before = store.version();
    await store.acceptIdentity(granted, null);
    t.equal(store.version(), before, 'the same again is no change');
    await store.acceptIdentity({ ...granted, provider: 'other' }, null);
    t.match(await grantsOf(), [{ ...first, provider: 'other' }, linked]);
    t.not(store.version(), before);
    await createApiKey(store, newKey('k', { createdBy: 'u1' }), hashOf('k'));
    t.match((await second.findApiKey('k'))?.owner?.grants.length, 2);
  });

  t.test(`${name}: an administrator by a provider's grant is not one that can't be removed`, async (t) => {
    const { store } = await create(t);
    await createUser(store, newUser('a', { scopeSets: ['administrator'], passwordHash: '$argon2id$' }), 'a');
    const byGroup = claimsOf('s1', { scopeSets: ['administrator'] });
    await store.acceptIdentity(byGroup, userNamed('b', 'b'));
    const refusal = { code: 'last_administrator' };
    await t.rejects(removeUser(store, 'a'), refusal);
    await t.rejects(updateUser(store, 'a', { disabled: true }), refusal);
    await t.rejects(updateUser(store, 'a', { scopeSets: [] }), refusal);
    t.ok(await removeUser(store, 'b'), "a user who doesn't count can be removed");
  });

  t.test(`${name}: the last administrator keeps the only identity to sign in with`, async (t) => {
    const { store } = await create(t);
    await createUser(store, newUser('a', { scopeSets: ['administrator'] }), 'a');
    const identity = { issuer, subject: 's1' };
    await linkIdentity(store, 'a', identity);
    await t.rejects(unlinkIdentity(store, 'a', identity), { code: 'last_administrator' });
    await updateUser(store, 'a', { passwordHash: '$argon2id$' });
    t.ok(await unlinkIdentity(store, 'a', identity));
  });
}
