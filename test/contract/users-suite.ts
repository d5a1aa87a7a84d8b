import t from 'tap';
import { administratorSet } from '../../src/stores/administrator-set.ts';
import type { ManagedUser } from '../../src/stores/managed-records.ts';
import {
  createApiKey,
  createUser,
  listUsers,
  removeUser,
  updateUser,
} from '../support/administration/record-changes.ts';
import { eventually } from '../support/eventually.ts';
import { auditDraft, hashOf, newKey, newUser, startOfTime } from './fixtures.ts';
import type { RecordsFactory } from './records-suite.ts';

const operator = { kind: 'command_line' } as const;
const editors = { id: 'set-1', name: 'editors', description: '', scopes: ['a', 'b'], created: 1, updated: 2 };

/** The contract of every records store for users, scope sets and the bootstrap. */
export function runUsersSuite({ name, create }: RecordsFactory): void {
  t.test(`${name}: a user is returned complete, with the sets held`, async (t) => {
    const { store, addScopeSet } = await create(t);
    await addScopeSet(editors);
    const user = newUser('u', {
      displayName: 'Ü',
      email: 'u@example.com',
      passwordHash: '$argon2id$',
      scopes: ['x', 'y'],
      scopeSets: ['administrator', 'set-1'],
      disabled: true,
      lastLogin: startOfTime,
    });
    await createUser(store, user, 'u');
    const found = { user, grants: [], sets: [administratorSet, editors] };
    t.strictSame(await store.findUser('u'), found);
    t.strictSame(await store.findUserByName('u'), found);
    t.equal(await store.findUser('U'), undefined);
    t.equal(await store.findUserByName('U'), undefined);
  });

  t.test(`${name}: each distinct prefix of the password hashes is listed once`, async (t) => {
    const { store } = await create(t);
    t.strictSame(await store.passwordHashKinds(), []);
    const kinds = ['$argon2id$v=19$m=64,p=1,t=1$', '$argon2id$v=19$m=19456,p=1,t=2$'];
    for (let index = 0; index < 6; index += 1) {
      const passwordHash = `${kinds[index % 2]}${`${index}`.repeat(22)}$${`${index}`.repeat(43)}`;
      await createUser(store, newUser(`${index}`, { passwordHash }), `${index}`);
    }
    await createUser(store, newUser('none'), 'none');
    t.strictSame([...(await store.passwordHashKinds())].sort(), kinds.sort());
    const others = [
      '$2y$12$',
      '$scrypt$ln=16,r=8,p=1$',
      '$pbkdf2-sha256$29000$',
      '$pbkdf2-sha512$i=29000,l=64$',
    ];
    for (const [index, kind] of others.entries()) {
      const passwordHash = `${kind}${'s'.repeat(22 + index)}$${'h'.repeat(43)}`;
      await createUser(store, newUser(kind, { passwordHash }), kind);
    }
    t.strictSame([...(await store.passwordHashKinds())].sort(), [...kinds, ...others].sort());
  });

  t.test(`${name}: the events of commands are returned once, in order, and notified`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    t.strictSame(await store.takeCommandEvents(), []);
    const before = store.version();
    for (const ids of [['one', 'two'], ['three']]) {
      const drafts = ids.map((id) => ({ ...auditDraft, id, event: 'user_created' as const }));
      await second.addAuditEvents({ drafts: () => drafts, onWritten() {}, isForGateways: true });
    }
    await eventually('the store is notified', () => store.version() !== before);
    const taken = await Promise.all([store.takeCommandEvents(), second.takeCommandEvents()]);
    t.strictSame(
      taken.flat().map((entry) => JSON.parse(entry).id),
      ['one', 'two', 'three'],
    );
    t.ok(
      taken.some((events) => events.length === 0),
      'to one of the callers',
    );
    t.strictSame(await store.takeCommandEvents(), []);
  });

  t.test(`${name}: a configuration that sets a password or disables withdraws an invitation`, async (t) => {
    const { store } = await create(t);
    const none = { drafts: () => [], onWritten() {} };
    const hash = hashOf('the token');
    const invite = () =>
      store.inviteUser('u', {
        caller: operator,
        decide: () => ({ hash, maker: operator, created: startOfTime, expires: startOfTime * 2 }),
        audit: none,
      });
    const user = { key: 'u', canonicalName: 'u', username: 'u', kind: 'person', scopes: [], scopeSets: [] };
    const apply = async (digest: string, more?: object) => {
      const one = { ...user, adopt: true, displayName: null, email: null, passwordHash: 'first', ...more };
      const users = more === undefined ? [] : [one as ManagedUser];
      const wanted = { digest, scopeSets: [], users };
      t.equal((await store.applyManaged(wanted, { reading: 'next', audit: none })).outcome, 'applied');
    };
    await createUser(store, newUser('u', { passwordHash: 'first' }), 'u');
    await invite();
    await apply('of another name', { displayName: 'U' });
    t.ok(await store.findInvitation(hash), 'no other change does');
    await apply('of another password', { passwordHash: 'second' });
    t.equal(await store.findInvitation(hash), undefined, 'another password');
    await invite();
    await apply('without the user');
    t.equal(await store.findInvitation(hash), undefined, 'a user who leaves the configuration');
  });

  t.test(`${name}: a sign-in is kept at once, with its line, without a new version`, async (t) => {
    const { store } = await create(t);
    await createUser(store, newUser('u'), 'u');
    const { user } = (await store.findUserRecord('u'))!;
    const signIn = (instant: number, id: string) => {
      const drafts = [{ ...auditDraft, id, event: 'login_succeeded' as const }];
      return store.keepSignIn({ userId: 'u', instant }, { drafts: () => drafts, onWritten() {} });
    };
    await signIn(startOfTime + 50, 'one');
    t.match(await store.findUserRecord('u'), {
      user: { lastLogin: startOfTime + 50, version: user.version },
    });
    await signIn(startOfTime + 40, 'two');
    t.match(await store.findUserRecord('u'), { user: { lastLogin: startOfTime + 50 } }, 'it never goes back');
    t.match(await store.findAuditEvent('one'), { event: 'login_succeeded' });
    t.match(await store.findAuditEvent('two'), { event: 'login_succeeded' });
    const failing = {
      drafts: () => {
        throw new Error('no line');
      },
      onWritten() {},
    };
    const withoutLine = store.keepSignIn({ userId: 'u', instant: startOfTime + 60 }, failing);
    await t.rejects(withoutLine, { message: 'no line' });
    t.match(
      await store.findUserRecord('u'),
      { user: { lastLogin: startOfTime + 50 } },
      'not without its line',
    );
  });

  t.test(`${name}: a name can be taken only once`, async (t) => {
    const { store } = await create(t);
    await createUser(store, newUser('a'), 'a');
    await createUser(store, newUser('b'), 'b');
    await t.rejects(createUser(store, newUser('c'), 'a'), { code: 'conflict' });
    await t.rejects(updateUser(store, 'b', { name: { username: 'A', canonicalName: 'a' } }), {
      code: 'conflict',
    });
    t.match(
      await updateUser(store, 'a', { name: { username: 'a', canonicalName: 'a' } }),
      { username: 'a' },
      "a user's own name is not a conflict",
    );
    t.equal((await listUsers(store)).length, 2);
  });

  t.test(`${name}: a change leaves other fields as they are`, async (t) => {
    const { store, addScopeSet } = await create(t);
    for (const id of ['r', 's', 't']) await addScopeSet({ ...editors, id, name: id });
    const user = newUser('u', { email: 'u@example.com', displayName: 'U', scopes: ['x'], scopeSets: ['s'] });
    await createUser(store, user, 'u');
    t.strictSame(await updateUser(store, 'u', { displayName: null, email: undefined }), {
      ...user,
      displayName: null,
      version: 2,
    });
    const changes = {
      passwordHash: 'h',
      scopes: ['z'],
      scopeSets: ['r', 't'],
      disabled: true,
    };
    const name = { username: 'V', canonicalName: 'v' };
    const changed = {
      ...{ ...user, ...changes, username: 'V', displayName: null },
      ...{ version: 3, epoch: startOfTime },
    };
    t.strictSame(await updateUser(store, 'u', { ...changes, name }), changed);
    t.match(await store.findUserByName('v'), { user: changed });
    t.equal(await store.findUserByName('u'), undefined);
    t.equal(await updateUser(store, 'nobody', { disabled: true }), undefined);
  });

  t.test(`${name}: the last enabled administrator can't be removed`, async (t) => {
    const { store } = await create(t);
    const administrator = { scopeSets: ['administrator'], passwordHash: '$argon2id$' };
    await createUser(store, newUser('plain'), 'plain');
    t.ok(await updateUser(store, 'plain', { disabled: true }), 'without an administrator none is required');
    await createUser(store, newUser('a', administrator), 'a');
    await createUser(store, newUser('off', { ...administrator, disabled: true }), 'off');
    const refusal = { code: 'last_administrator' };
    await t.rejects(updateUser(store, 'a', { disabled: true }), refusal);
    await t.rejects(updateUser(store, 'a', { scopeSets: [] }), refusal);
    await t.rejects(removeUser(store, 'a'), refusal);
    t.match(await store.findUser('a'), { user: { disabled: false, scopeSets: ['administrator'] } });
    await createUser(store, newUser('nobody', { scopeSets: ['administrator'] }), 'nobody');
    await t.rejects(removeUser(store, 'a'), refusal, "a user who can't sign in is not one");
    await updateUser(store, 'off', { disabled: false });
    t.ok(await removeUser(store, 'a'));
    await t.rejects(removeUser(store, 'off'), refusal);
  });

  t.test(`${name}: two administrators can't remove each other concurrently`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    const administrator = { scopeSets: ['administrator'], passwordHash: '$argon2id$' };
    for (const id of ['a', 'b']) await createUser(store, newUser(id, administrator), id);
    const responses = await Promise.allSettled([removeUser(store, 'a'), removeUser(second, 'b')]);
    t.equal(responses.filter(({ status }) => status === 'rejected').length, 1);
    t.equal((await listUsers(store)).length, 1);
  });

  t.test(`${name}: removing a user deletes the keys, unless they are kept`, async (t) => {
    const { store } = await create(t);
    for (const id of ['a', 'b']) {
      await createUser(store, newUser(id), id);
      await createApiKey(store, newKey(`key-${id}`, { createdBy: id }), hashOf(id));
    }
    t.ok(await removeUser(store, 'a'));
    t.equal(await store.findApiKeyByHash(hashOf('a')), undefined);
    t.ok(await removeUser(store, 'b', 'keep'));
    t.match(await store.findApiKeyByHash(hashOf('b')), { key: { createdBy: 'b' }, owner: null });
    t.equal(await removeUser(store, 'b', 'keep'), undefined);
  });

  t.test(`${name}: the version changes with every change, by any connection`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    const seen = new Set([store.version()]);
    const seenBySecond = new Set([second.version()]);
    const key = newKey('k', { createdBy: 'a' });
    const changes: (() => Promise<unknown>)[] = [
      () => createUser(store, newUser('a'), 'a'),
      () => updateUser(second, 'a', { disabled: true }),
      () => updateUser(store, 'a', { disabled: false }),
      () => createApiKey(second, key, hashOf('k')),
      () => store.deleteApiKey('k', { children: false }),
      () => createUser(second, newUser('b'), 'b'),
      () => removeUser(store, 'b', 'keep'),
    ];
    for (const [index, change] of changes.entries()) {
      await change();
      seen.add(store.version());
      seenBySecond.add(second.version());
      t.equal(seen.size, index + 2);
      t.equal(seenBySecond.size, index + 2);
      t.equal(store.version(), store.version(), 'and stays the same without one');
    }
  });

  t.test(`${name}: scope sets are found by id and by name, including the built-in one`, async (t) => {
    const { store, addScopeSet } = await create(t);
    await addScopeSet(editors);
    t.strictSame(await store.findScopeSetByName('editors'), editors);
    t.strictSame(await store.findScopeSetByName('administrator'), administratorSet);
    t.equal(await store.findScopeSetByName('Editors'), undefined);
    t.strictSame(await store.findScopeSets(['set-1', 'nowhere', 'administrator']), [
      administratorSet,
      editors,
    ]);
    t.strictSame(await store.findScopeSets([]), []);
  });
}
