import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { AuditOf } from '../../src/stores/audit.ts';
import type { JudgedChange } from '../../src/stores/caller.ts';
import type { NewInvitation } from '../../src/stores/invitation-records.ts';
import type { recordsOperations } from '../../src/stores/operations.ts';
import { openSharedRecords } from '../../src/stores/postgres/open.ts';
import { listenerName, type PostgresRecords } from '../../src/stores/postgres/records.ts';
import type { Records } from '../../src/stores/records.ts';
import { createCachedRecords } from '../../src/stores/remote/cached-records.ts';
import type { RecordsChange } from '../../src/stores/remote/change-feed.ts';
import { hashOf, newAdministrator, newKey, newUser, startOfTime } from '../contract/fixtures.ts';
import { accessToNewSchema, openPostgresUnderTest, recordsLimits } from '../contract/postgres-stores.ts';
import {
  createApiKey,
  createUser,
  linkIdentity,
  removeUser,
  transferApiKey,
  unlinkIdentity,
  updateUser,
} from '../support/administration/record-changes.ts';
import { eventually } from '../support/eventually.ts';
import { startTcpRelay } from '../support/servers/tcp-relay.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { hasApplicationName, startPostgres } from '../support/stores/postgres-server.ts';

type Writes = {
  [Name in keyof typeof recordsOperations]: (typeof recordsOperations)[Name] extends 'write' ? Name : never;
}[keyof typeof recordsOperations];
type Write = (records: Records) => Promise<unknown>;

const audit: AuditOf<unknown> = { drafts: () => [], onWritten() {} };
const deciding = <Found, Decision, Result>(decision: Decision): JudgedChange<Found, Decision, Result> => ({
  caller: { kind: 'command_line' },
  decide: () => decision,
  audit,
});
const identity = { issuer: 'https://login.example.com', subject: 's' };
const invitation: NewInvitation = {
  hash: hashOf('invitation'),
  maker: { kind: 'command_line' },
  created: startOfTime,
  expires: startOfTime + 1_000,
};
const invite: Write = (records) => records.inviteUser('u', deciding(invitation));
const set = { id: 's', name: 'readers', description: '', scopes: ['store:read'] };

/** Every write that changes what gateways cache of keys and users; several where different rows change. */
const changes = {
  replacePasswordHash: {
    'of a user': (records) => records.replacePasswordHash('u', { from: 'hash', to: 'another' }),
  },
  acceptIdentity: {
    'that grants': (records) =>
      records.acceptIdentity(
        { ...identity, displayName: null, email: null, scopes: ['x'], scopeSets: [] },
        null,
      ),
    'that makes a user': (records) =>
      records.acceptIdentity(
        { ...identity, subject: 'new', displayName: null, email: null, scopes: [], scopeSets: [] },
        { id: 'new', created: startOfTime, names: [{ username: 'New', canonicalName: 'new' }] },
      ),
  },
  createApiKeyRecord: {
    'of a key that was unknown': (records) =>
      createApiKey(records, newKey('new', { scopeSets: [] }), hashOf('new')),
  },
  deleteApiKey: {
    'of a key alone': (records) => records.deleteApiKey('k', { children: false }),
    'of the keys minted with it': (records) => records.deleteApiKey('parent', { children: true }),
  },
  transferApiKey: { 'to another user': (records) => transferApiKey(records, 'k', 'u') },
  createUserRecord: { 'of a user who was unknown': (records) => createUser(records, newUser('new'), 'new') },
  changeUserRecord: {
    'of a user': (records) => updateUser(records, 'u', { displayName: 'U' }),
    'of the owner of a key': (records) => updateUser(records, 'owner', { disabled: true }),
  },
  removeUserRecord: {
    'with the keys': (records) => removeUser(records, 'owner'),
    'without the keys': (records) => removeUser(records, 'owner', 'keep'),
    'whose keys another user gets': (records) => removeUser(records, 'owner', { transferTo: 'u' }),
  },
  linkUserIdentity: {
    'whose grants are known': (records) => linkIdentity(records, 'u', { ...identity, subject: 'other' }),
  },
  unlinkUserIdentity: { 'that grants': (records) => unlinkIdentity(records, 'u', identity) },
  redeemInvitation: {
    'that sets a password': (records) =>
      records.redeemInvitation(invitation.hash, { decide: () => 'another', audit }),
  },
  endSessionsOfUser: { 'of a user': (records) => records.endSessionsOfUser('u', deciding(undefined)) },
  endAllSessions: { 'of all users': (records) => records.endAllSessions(deciding(undefined)) },
  changeScopeSet: {
    'that is held': (records) => records.changeScopeSet('s', deciding({ scopes: ['store:write'] })),
  },
  applyManaged: {
    'that takes a set over': (records) =>
      records.applyManaged(
        {
          digest: 'd',
          scopeSets: [{ name: 'readers', description: '', scopes: ['store:write'], adopt: true }],
          users: [],
        },
        { reading: 'next', audit },
      ),
  },
} satisfies Partial<Record<Writes, Readonly<Record<string, Write>>>>;

/** Writes that change nothing that is cached. */
const others = [
  'keepSignIn',
  'judgeUserRecord',
  'inviteUser',
  'createScopeSet',
  'removeScopeSet',
  'addAuditEvents',
  'turnSigningKeys',
  'secret',
  'setBootstrapToken',
] as const satisfies readonly Writes[];

type Unlisted = Exclude<Writes, keyof typeof changes | 'activate' | (typeof others)[number]>;
/** A new write doesn't compile until it is in a list. */
const unlisted: Readonly<Record<Unlisted, Readonly<Record<string, Write>>>> = {};

/** A cache over the store whose notifications never arrive, and which doesn't know it. */
function createDeafCache(remote: PostgresRecords) {
  let notify: (change: RecordsChange | null) => void = () => {};
  const records = createCachedRecords({
    remote,
    feed: {
      notifiedSince: Number.NEGATIVE_INFINITY,
      notifiedUntil: Number.POSITIVE_INFINITY,
      onChange: (listener) => {
        notify = listener;
      },
      noteChange: (change) => notify(change),
      onHeartbeat: () => {},
      close: async () => {},
    },
    staleIfErrorMs: () => 30_000,
  });
  return { records, noteChange: (change: RecordsChange | null) => notify(change) };
}

const userIds = ['u', 'owner', 'new'];
const keyIds = ['k', 'parent', 'child'];

/** Reads everything that a cache can hold of the users and keys of these tests. */
async function readAll(records: Pick<Records, 'findUser' | 'findApiKeyByHash' | 'findApiKey'>) {
  const users = await Promise.all(userIds.map((id) => records.findUser(id)));
  const byHash = await Promise.all([...keyIds, 'new'].map((id) => records.findApiKeyByHash(hashOf(id))));
  // A key by an id of which nothing is cached is always read from the store.
  return { users, byHash, byId: await Promise.all(keyIds.map((id) => records.findApiKey(id))) };
}

async function fill(store: PostgresRecords): Promise<void> {
  await store.createScopeSet(deciding(set));
  await createUser(store, newUser('u', { passwordHash: 'hash', scopeSets: ['s'] }), 'u');
  await createUser(store, newUser('owner'), 'owner');
  await linkIdentity(store, 'u', identity);
  await invite(store as unknown as Records);
  for (const key of [newKey('k'), newKey('parent'), newKey('child', { parent: 'parent' })])
    await createApiKey(store, key, hashOf(key.id));
}

if (requirePostgres(t)) {
  const server = await startPostgres(t);

  /** A filled store that passes its own changes to the cache `noted`, and to the cache `dropping` none. */
  async function setUp(t: Test, isEmpty = false) {
    let note: (change: RecordsChange | null) => void = () => {};
    const onChange = (change: RecordsChange | null) => note(change);
    const access = accessToNewSchema(server);
    const store = await openPostgresUnderTest(t, access, { onChange });
    if (!isEmpty) await fill(store);
    const [noted, dropping] = [createDeafCache(store), createDeafCache(store)];
    note = noted.noteChange;
    return { store, noted: noted.records, dropping: dropping.records, schema: access.address.schema };
  }

  /** Judges that a cache sees the write with its changes noted, and doesn't with them dropped. */
  async function judgeSeen(t: Test, write: Write, isEmpty = false): Promise<void> {
    const { store, noted, dropping } = await setUp(t, isEmpty);
    const before = await readAll(store);
    t.strictSame([await readAll(noted), await readAll(dropping)], [before, before]);
    const version = noted.version();
    await write(noted);
    const after = await readAll(store);
    t.strictSame(await readAll(noted), after, 'seen before it is acknowledged');
    t.not(noted.version(), version, 'what is cached by version is read again');
    t.strictSame(await readAll(dropping), before, 'not seen where the change is dropped');
    t.notSame(after, before);
  }

  for (const [name, ways] of Object.entries({ ...changes, ...unlisted }))
    for (const [way, write] of Object.entries(ways))
      t.test(`${name} ${way} is seen by the process that makes it, while notifications are late`, (t) =>
        judgeSeen(t, write),
      );

  t.test('activate is seen by the process that makes it, while notifications are late', (t) =>
    judgeSeen(t, (records) => records.activate(newAdministrator('new'), 'new'), true),
  );

  t.test('a write whose COMMIT failed may have been made: what it changed is read again', async (t) => {
    const { noted, schema } = await setUp(t);
    await readAll(noted);
    await server.query(`CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'gone' USING ERRCODE = '57P01'; END $$`);
    await server.query(`CREATE CONSTRAINT TRIGGER failing AFTER DELETE ON ${schema}.api_keys
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${schema}.fail()`);
    await t.rejects(noted.deleteApiKey('k', { children: false }), { code: 'store_unavailable' });
    const read = noted.findApiKeyByHash(hashOf('k'));
    t.ok(read instanceof Promise);
    t.match(await read, { key: { id: 'k' } });
    t.notOk(noted.findApiKeyByHash(hashOf('parent')) instanceof Promise, 'and nothing else');
  });

  t.test('an open store sees its own change while its connection for notifications is blocked', async (t) => {
    const relay = await startTcpRelay(t, server);
    const access = accessToNewSchema(relay);
    await fill(await openPostgresUnderTest(t, access));
    const { records } = await openSharedRecords({
      ...{ access, tenant: 't', now: Date.now, ...recordsLimits, openTimeoutMs: 10_000 },
      staleIfErrorMs: () => 30_000,
      events: { onUnavailable() {}, onAvailable() {} },
    });
    t.teardown(() => records.close());
    await eventually('notifications arrive', async () => {
      await readAll(records);
      const version = records.version();
      await sleep(300);
      return records.version() === version;
    });
    await readAll(records);
    relay.blackHole(hasApplicationName(listenerName));
    await records.deleteApiKey('k', { children: false });
    t.equal(await records.findApiKeyByHash(hashOf('k')), undefined);
    relay.cut();
  });
}
