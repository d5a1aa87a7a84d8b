import t from 'tap';
import { createUser, listUsers, removeUser } from '../support/record-changes.ts';
import { newUser } from './fixtures.ts';
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

  t.test(`${name}: the bootstrap is open until the first user, however created`, async (t) => {
    const { store, openSecond } = await create(t);
    t.strictSame(await store.bootstrap(), { open: true, token: null });
    t.strictSame(await store.setBootstrapToken('one', { reset: false }), { open: true, token: 'one' });
    const second = await openSecond();
    t.strictSame(await second.setBootstrapToken('two', { reset: false }), { open: true, token: 'one' });
    await createUser(store, newUser('u'), 'u');
    t.strictSame(await second.bootstrap(), { open: false, token: null });
    t.strictSame(await store.setBootstrapToken('three', { reset: false }), { open: false, token: null });
    await t.rejects(store.activate(newUser('a'), 'a'), { code: 'already_activated' });
    await removeUser(store, 'u');
    t.match(await store.bootstrap(), { open: false }, 'for good');
  });

  t.test(`${name}: parallel activations create one administrator`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    const responses = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((id, index) => (index % 2 ? store : second).activate(newUser(id), id)),
    );
    const refused = responses.filter((response) => response.status === 'rejected');
    t.strictSame(
      refused.map(({ reason }) => reason.code),
      Array(3).fill('already_activated'),
    );
    t.equal((await listUsers(store)).length, 1);
  });

  t.test(`${name}: a reset opens the bootstrap once more`, async (t) => {
    const { store } = await create(t);
    await store.activate(newUser('a'), 'a');
    t.strictSame(await store.setBootstrapToken('new', { reset: true }), { open: true, token: 'new' });
    await t.rejects(store.activate(newUser('b'), 'a'), { code: 'conflict' });
    t.match(await store.bootstrap(), { open: true }, 'a refused activation closes nothing');
    await store.activate(newUser('b'), 'b');
    t.strictSame(await store.bootstrap(), { open: false, token: null });
  });
}
