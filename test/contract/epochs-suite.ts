import t from 'tap';
import { Refusal } from '../../src/errors.ts';
import type { AuditEventName } from '../../src/log/audit-events.ts';
import { admitsSession } from '../../src/stores/session-epoch.ts';
import { createUser, updateUser } from '../support/administration/record-changes.ts';
import { auditDraft, newUser, startOfTime } from './fixtures.ts';
import type { RecordsFactory } from './records-suite.ts';

/** The contract of every records store for passwords and epochs, by which sessions end. */
export function runEpochsSuite({ name, create }: RecordsFactory): void {
  t.test(`${name}: a new password, disabling and enabling start an epoch, rehashing does not`, async (t) => {
    const { store } = await create(t);
    await createUser(store, newUser('u', { passwordHash: 'one' }), 'u');
    t.match(await updateUser(store, 'u', { email: 'e' }), { epoch: 0, version: 2 });
    const first = startOfTime;
    t.match(await updateUser(store, 'u', { passwordHash: 'two' }), { epoch: first, version: 3 });
    await store.replacePasswordHash('u', { from: 'two', to: 'again' });
    t.match(await store.findUser('u'), { user: { epoch: first } });
    t.match(await updateUser(store, 'u', { disabled: true }), { epoch: first + 1 });
    t.match(await updateUser(store, 'u', { disabled: true }), { epoch: first + 1 }, 'once');
    t.match(await updateUser(store, 'u', { disabled: false }), { epoch: first + 2 });
  });

  t.test(`${name}: a password's hash is replaced only by one of the same password`, async (t) => {
    const { store } = await create(t);
    await createUser(store, newUser('u', { passwordHash: 'one' }), 'u');
    const before = store.version();
    await store.replacePasswordHash('u', { from: 'one', to: 'two' });
    const replaced = newUser('u', { passwordHash: 'two', version: 2 });
    t.match(await store.findUser('u'), { user: replaced });
    t.not(store.version(), before);
    const settled = store.version();
    await store.replacePasswordHash('u', { from: 'one', to: 'three' });
    await store.replacePasswordHash('nobody', { from: 'one', to: 'three' });
    t.match(await store.findUser('u'), { user: replaced }, 'one that was set in the meantime stays');
    t.equal(store.version(), settled);
  });

  t.test(`${name}: the epoch of a user, and of all, starts with its audit event`, async (t) => {
    const { store } = await create(t);
    for (const id of ['u', 'v']) await createUser(store, newUser(id), id);
    const epochs = async () =>
      Promise.all(['u', 'v'].map(async (id) => (await store.findUser(id))!.user.epoch));
    const change = (event: AuditEventName, decide = () => {}) => ({
      caller: { kind: 'command_line' } as const,
      decide,
      audit: { drafts: () => [{ ...auditDraft, event }], onWritten() {} },
    });
    const refuse = () => {
      throw new Refusal('invalid_token');
    };
    const first = startOfTime;
    t.match(await store.endSessionsOfUser('u', change('session_revoked')), { user: { id: 'u', epoch: 0 } });
    t.strictSame(await epochs(), [first, 0]);
    await store.endAllSessions(change('user_changed'));
    t.strictSame(await epochs(), [first + 1, first + 1], 'later than that of any user');
    t.match(await updateUser(store, 'v', { email: 'e' }), { epoch: first + 1 });
    t.match(await store.endSessionsOfUser('v', change('session_revoked')), { user: { epoch: first + 1 } });
    t.strictSame(await epochs(), [first + 1, first + 2]);
    t.equal(await store.endSessionsOfUser('nobody', change('user_removed')), undefined);
    await t.rejects(store.endSessionsOfUser('u', change('user_removed', refuse)), { code: 'invalid_token' });
    await t.rejects(store.endAllSessions(change('user_removed', refuse)), { code: 'invalid_token' });
    t.strictSame(await epochs(), [first + 1, first + 2], 'what is refused ends nothing');
    const { items } = await store.listAuditEvents({ sortBy: 'time', sortOrder: 'asc', filters: [], size: 9 });
    t.strictSame(
      items.map(({ event }) => event),
      ['session_revoked', 'user_changed', 'session_revoked'],
    );
    t.match(await store.findUser('u'), { user: { version: 1 } }, 'nothing that is read has changed');
  });

  t.test(`${name}: one session survives a change of the password, until the next epoch`, async (t) => {
    const { store } = await create(t);
    const session = { id: 'own', epoch: 0 };
    const isAdmitted = async () => admitsSession((await store.findUser('u'))?.user, session);
    const others = async () => admitsSession((await store.findUser('u'))?.user, { id: 'other', epoch: 0 });
    await createUser(store, newUser('u', { passwordHash: 'one' }), 'u');
    t.ok((await isAdmitted()) && (await others()));
    await updateUser(store, 'u', { passwordHash: 'two', carriedSession: 'own' });
    t.ok(await isAdmitted());
    t.notOk(await others());
    await updateUser(store, 'u', { email: 'e' });
    t.ok(await isAdmitted(), 'another change ends nothing');
    const change = {
      caller: { kind: 'command_line' },
      decide() {},
      audit: { drafts: () => [], onWritten() {} },
    } as const;
    await store.endAllSessions(change);
    t.notOk(await isAdmitted());
    await updateUser(store, 'u', { email: 'f' });
    t.notOk(await isAdmitted());
    await updateUser(store, 'u', { passwordHash: 'three', carriedSession: 'own' });
    t.ok(await isAdmitted());
    await store.endSessionsOfUser('u', change);
    t.notOk(await isAdmitted());
    await updateUser(store, 'u', { passwordHash: 'four' });
    t.notOk(await isAdmitted());
  });
}
