import t from 'tap';
import type { IdentityClaims } from '../../src/stores/identity.ts';
import type { ManagedConfiguration } from '../../src/stores/managed-records.ts';
import type { Records } from '../../src/stores/records.ts';
import {
  createUser,
  linkIdentity,
  listUsers,
  removeUser,
  updateUser,
} from '../support/administration/record-changes.ts';
import { newAdministrator, newUser, startOfTime } from './fixtures.ts';
import type { RecordsFactory } from './records-suite.ts';

/** The contract of every records store for secrets and the bootstrap. */
export function runSecretsSuite({ name, create }: RecordsFactory): void {
  t.test(`${name}: every process gets the same secret`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    const [one, other] = await Promise.all([
      store.secret('cursor', new Uint8Array([1, 2, 3])),
      second.secret('cursor', new Uint8Array([4, 5, 6])),
    ]);
    t.strictSame([...one], [...other], 'the first one');
    t.match([...one], one[0] === 1 ? [1, 2, 3] : [4, 5, 6]);
    t.strictSame([...(await store.secret('cursor', new Uint8Array([8])))], [...one]);
    t.strictSame([...(await store.secret('sign_in', new Uint8Array([7])))], [7], 'names are independent');
  });

  t.test(`${name}: users who are no administrator leave the bootstrap open`, async (t) => {
    const { store, openSecond } = await create(t);
    t.strictSame(await store.bootstrap(), { open: true, token: null });
    t.strictSame(await store.setBootstrapToken('one', { reset: false }), { open: true, token: 'one' });
    const second = await openSecond();
    t.strictSame(await second.setBootstrapToken('two', { reset: false }), { open: true, token: 'one' });
    await createUser(store, newUser('person', { passwordHash }), 'person');
    await createUser(store, newUser('service', { kind: 'service', scopeSets: ['administrator'] }), 'service');
    await createUser(store, newAdministrator('unable', { passwordHash: null }), 'unable');
    await createUser(store, newAdministrator('disabled', { disabled: true }), 'disabled');
    await store.acceptIdentity(claimsOf('granted'), {
      id: 'granted',
      created: startOfTime,
      names: [{ username: 'granted', canonicalName: 'granted' }],
    });
    await updateUser(store, 'person', { displayName: 'Ada', scopes: ['a'] });
    await linkIdentity(store, 'person', { issuer, subject: 'linked' });
    await removeUser(store, 'unable');
    t.strictSame(await second.bootstrap(), { open: true, token: 'one' });
    await second.activate(newAdministrator('a'), 'a');
    t.strictSame(await store.bootstrap(), { open: false, token: null });
  });

  const waysToAdministrator: Readonly<Record<string, (store: Records) => Promise<unknown>>> = {
    'is created': (store) => createUser(store, newAdministrator('u'), 'u'),
    'is given the set': async (store) => {
      await createUser(store, newUser('u', { passwordHash }), 'u');
      await updateUser(store, 'u', { scopeSets: ['administrator'] });
    },
    'is given a password': async (store) => {
      await createUser(store, newAdministrator('u', { passwordHash: null }), 'u');
      await updateUser(store, 'u', { passwordHash });
    },
    'is enabled': async (store) => {
      await createUser(store, newAdministrator('u', { disabled: true }), 'u');
      await updateUser(store, 'u', { disabled: false });
    },
    'is given an identity': async (store) => {
      await createUser(store, newAdministrator('u', { passwordHash: null }), 'u');
      await linkIdentity(store, 'u', { issuer, subject: 'linked' });
    },
    'redeems an invitation': async (store) => {
      await createUser(store, newAdministrator('u', { passwordHash: null }), 'u');
      const hash = new Uint8Array(32);
      const invitation = { hash, maker: { kind: 'command_line' }, created: 1, expires: 2 } as const;
      await store.inviteUser('u', { caller: invitation.maker, decide: () => invitation, audit: unaudited });
      t.match(await store.bootstrap(), { open: true }, 'an invitation closes nothing');
      await store.redeemInvitation(hash, { decide: () => passwordHash, audit: unaudited });
    },
    'is made by the configuration': (store) =>
      store.applyManaged(configurationOf('u'), { reading: 'next', audit: unaudited }),
  };

  for (const [way, make] of Object.entries(waysToAdministrator))
    t.test(`${name}: an administrator who ${way} closes the bootstrap for good`, async (t) => {
      const { store, openSecond } = await create(t);
      const second = await openSecond();
      await store.setBootstrapToken('one', { reset: false });
      await make(store);
      t.strictSame(await second.bootstrap(), { open: false, token: null });
      t.strictSame(await store.setBootstrapToken('two', { reset: false }), { open: false, token: null });
      await t.rejects(store.activate(newAdministrator('a'), 'a'), { code: 'already_activated' });
      await createUser(store, newUser('later'), 'later');
      t.match(await store.bootstrap(), { open: false }, 'whoever comes after');
    });

  t.test(`${name}: parallel activations create one administrator`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    const responses = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((id, index) =>
        (index % 2 ? store : second).activate(newAdministrator(id), id),
      ),
    );
    const refused = responses.filter((response) => response.status === 'rejected');
    t.strictSame(
      refused.map(({ reason }) => reason.code),
      Array(3).fill('already_activated'),
    );
    t.equal((await listUsers(store)).length, 1);
  });

  t.test(`${name}: a reset opens the bootstrap until there is another administrator`, async (t) => {
    const { store } = await create(t);
    await store.activate(newAdministrator('a'), 'a');
    t.strictSame(await store.setBootstrapToken('new', { reset: true }), { open: true, token: 'new' });
    await t.rejects(store.activate(newAdministrator('b'), 'a'), { code: 'conflict' });
    t.match(await store.bootstrap(), { open: true }, 'a refused activation closes nothing');
    await updateUser(store, 'a', { displayName: 'Ada', passwordHash: `${passwordHash}2` });
    await createUser(store, newUser('c', { passwordHash }), 'c');
    t.strictSame(await store.bootstrap(), { open: true, token: 'new' }, 'neither do the users there are');
    await store.activate(newAdministrator('b'), 'b');
    t.strictSame(await store.bootstrap(), { open: false, token: null });
  });
}

const passwordHash = newAdministrator('any').passwordHash!;
const unaudited = { drafts: () => [], onWritten() {} };
const issuer = 'https://login.example.com';

/** An account to which its provider grants everything. */
function claimsOf(subject: string): IdentityClaims {
  const grants = { scopes: ['a'], scopeSets: ['administrator'] };
  return { issuer, subject, displayName: null, email: null, ...grants };
}

function configurationOf(name: string): ManagedConfiguration {
  const user = { key: name, username: name, canonicalName: name, displayName: null, email: null };
  const rights = {
    kind: 'person',
    scopes: [],
    scopeSets: ['administrator'],
    passwordHash,
    adopt: false,
  } as const;
  return { digest: 'one', scopeSets: [], users: [{ ...user, ...rights }] };
}
