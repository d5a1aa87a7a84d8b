import t, { type Test } from 'tap';
import { Refusal } from '../../src/errors.ts';
import type { ApiKeyWithOwner } from '../../src/stores/api-key.ts';
import type { Records, RemoteRecords } from '../../src/stores/records.ts';
import { createCachedRecords } from '../../src/stores/remote/cached-records.ts';
import type { RecordsChange } from '../../src/stores/remote/change-feed.ts';
import type { UserWithSets } from '../../src/stores/user.ts';
import { hashOf, newKey, newUser } from '../contract/fixtures.ts';
import { judgeElapsed } from '../support/elapsed.ts';

const staleIfErrorMs = 30_000;

/** A remote store of one key and one user, its feed and its clock, all controlled by the test. */
class Remote {
  key: ApiKeyWithOwner | undefined = {
    key: newKey('k'),
    owner: {
      id: 'owner',
      username: 'OWNER',
      displayName: null,
      email: null,
      disabled: false,
      scopes: [],
      scopeSets: [],
      grants: [],
      sets: [],
    },
    sets: [],
    version: 1,
  };
  user: UserWithSets | undefined = { user: newUser('u'), grants: [], sets: [] };
  isDown = false;
  /** While set, responses wait for it. */
  gate: Promise<void> | undefined;
  queries = 0;
  now = 1_000;
  notifiedUntil = 1_000;
  #notify: (change: RecordsChange | null) => void = () => {};
  readonly records: Records;

  constructor() {
    const response = async <T>(value: () => T): Promise<T> => {
      this.queries += 1;
      const then = value();
      await this.gate;
      if (this.isDown) throw new Refusal('store_unavailable', { cause: new Error('gone') });
      return then;
    };
    const remote: Partial<RemoteRecords> = {
      findApiKeyByHash: () => response(() => this.key),
      findApiKey: () => response(() => this.key),
      findUser: () => response(() => this.user),
      deleteApiKey: (id) => response(() => [id]),
      findUserByName: () => response(() => this.user),
    };
    const self = this;
    this.records = createCachedRecords({
      remote: remote as RemoteRecords,
      feed: {
        notifiedSince: Number.NEGATIVE_INFINITY,
        get notifiedUntil() {
          return self.notifiedUntil;
        },
        onChange: (listener) => {
          this.#notify = listener;
        },
        noteChange: (change) => this.notify(change),
        onHeartbeat: () => {},
        close: async () => {},
      },
      staleIfErrorMs: () => staleIfErrorMs,
      elapsed: () => this.now,
    });
  }

  /** Time passes while changes are notified. */
  passNotified(ms: number): void {
    this.now += ms;
    this.notifiedUntil = this.now;
  }

  passSilent(ms: number): void {
    this.now += ms;
  }

  notify(change: RecordsChange | null): void {
    this.#notify(change);
  }
}

const find = ({ records }: Remote) => records.findApiKeyByHash(hashOf('k'));

t.test('a cached result is returned without a promise while changes are notified', async (t) => {
  const remote = new Remote();
  t.ok(find(remote) instanceof Promise);
  await find(remote);
  remote.passNotified(3_600_000);
  const version = remote.records.version();
  t.match(find(remote), { key: { id: 'k' } });
  t.equal(remote.records.version(), version);
  t.equal(remote.queries, 1, 'parallel queries are sent once');
});

t.test('a change drops a key in use, however many keys were cached since', async (t) => {
  const remote = new Remote();
  const inUse = remote.key;
  await find(remote);
  for (let i = 0; i < 45_000; i++) {
    remote.key = { ...inUse!, key: newKey(`k${i}`) };
    await remote.records.findApiKeyByHash(hashOf(`k${i}`));
    if (i % 1_000 === 0) t.match(find(remote), { key: { id: 'k' } });
  }
  remote.notify({ keys: ['k'], users: [] });
  t.ok(find(remote) instanceof Promise);
});

t.test('a notified change invalidates exactly what it affects, at once', async (t) => {
  const remote = new Remote();
  await find(remote);
  await remote.records.findUser('u');
  const version = remote.records.version();
  remote.notify({ keys: ['other'], users: ['other'] });
  t.not(remote.records.version(), version);
  t.match(find(remote), { key: { id: 'k' } }, 'another key');
  for (const change of [{ keys: ['k'], users: [] }, { keys: [], users: ['owner'] }, null]) {
    remote.notify(change);
    t.ok(find(remote) instanceof Promise, JSON.stringify(change));
    await find(remote);
  }
  remote.notify({ keys: [], users: ['u'] });
  t.ok(remote.records.findUser('u') instanceof Promise);
});

t.test('a result that a change overtook is returned and not cached', async (t) => {
  const remote = new Remote();
  const { promise, resolve } = Promise.withResolvers<void>();
  remote.gate = promise;
  const response = find(remote);
  remote.notify({ keys: ['k'], users: [] });
  resolve();
  await response;
  t.ok(find(remote) instanceof Promise);
});

t.test('a result that only unrelated changes overtook is cached', async (t) => {
  const remote = new Remote();
  const { promise, resolve } = Promise.withResolvers<void>();
  remote.gate = promise;
  const [key, user] = [find(remote), remote.records.findUser('u')];
  remote.notify({ keys: ['another'], users: ['another'], newKeys: ['k'] });
  resolve();
  await Promise.all([key, user]);
  t.match(find(remote), { key: { id: 'k' } });
  t.match(remote.records.findUser('u'), { user: { id: 'u' } });
});

t.test('the creation of a key invalidates no cached key, not even one of the same id', async (t) => {
  const remote = new Remote();
  await find(remote);
  remote.notify({ keys: [], users: [], newKeys: ['k', 'another'] });
  t.match(find(remote), { key: { id: 'k' } });
});

t.test('without notifications a result is trusted for 300 ms', async (t) => {
  const remote = new Remote();
  remote.passSilent(500);
  await find(remote);
  const version = remote.records.version();
  remote.passSilent(299);
  t.match(find(remote), { key: { id: 'k' } });
  remote.passSilent(1);
  t.not(remote.records.version(), version, 'what is cached by version is read again');
  remote.key = undefined;
  t.equal(await find(remote), undefined);
});

t.test('without notifications the version changes every 250 ms', async (t) => {
  const remote = new Remote();
  remote.passSilent(500);
  const version = remote.records.version();
  remote.passSilent(249);
  t.equal(remote.records.version(), version);
  remote.passSilent(1);
  t.not(remote.records.version(), version);
});

t.test('a query after a change does not join one from before it', async (t) => {
  const remote = new Remote();
  const { promise, resolve } = Promise.withResolvers<void>();
  remote.gate = promise;
  const before = find(remote);
  remote.key = undefined;
  remote.notify({ keys: ['k'], users: [] });
  const [after, again] = [find(remote), find(remote)];
  resolve();
  t.match(await before, { key: { id: 'k' } });
  t.strictSame([await after, await again], [undefined, undefined]);
  t.equal(remote.queries, 2, 'parallel queries are sent once');
});

t.test('an unknown key is cached briefly, and until any key is created', async (t) => {
  const remote = new Remote();
  remote.key = undefined;
  t.equal(await find(remote), undefined);
  t.equal(find(remote), undefined, 'without a promise');
  remote.notify({ keys: [], users: [], newKeys: ['k'] });
  t.ok(find(remote) instanceof Promise);
  await find(remote);
  remote.passNotified(2_000);
  t.ok(find(remote) instanceof Promise);
});

t.test('while the store is unavailable', async (t: Test) => {
  t.test('a credential alive at the last notification counts for stale_if_error', async (t) => {
    const remote = new Remote();
    await find(remote);
    remote.passNotified(60_000);
    remote.isDown = true;
    remote.passSilent(staleIfErrorMs - 1);
    t.match(await find(remote), { key: { id: 'k' } });
    t.doesNotThrow(() => remote.records.version());
    remote.passSilent(1);
    t.throws(() => find(remote), { code: 'store_unavailable' });
    t.throws(() => remote.records.version(), { code: 'store_unavailable' });
  });

  t.test('a result counts as much as a notification', async (t) => {
    const remote = new Remote();
    remote.passSilent(60_000);
    await find(remote);
    remote.isDown = true;
    remote.passSilent(staleIfErrorMs - 1);
    t.match(await find(remote), { key: { id: 'k' } });
    t.doesNotThrow(() => remote.records.version());
    remote.passSilent(1);
    t.throws(() => remote.records.version(), { code: 'store_unavailable' });
  });

  t.test('an uncached record is refused', async (t) => {
    const remote = new Remote();
    remote.isDown = true;
    await t.rejects(async () => find(remote), { code: 'store_unavailable' });
  });

  t.test('it is queried at intervals, not by every request', async (t) => {
    const remote = new Remote();
    await find(remote);
    remote.isDown = true;
    remote.passSilent(1_000);
    await find(remote);
    const { queries } = remote;
    for (let index = 0; index < 100; index += 1) t.match(find(remote), { key: { id: 'k' } });
    t.equal(remote.queries, queries);
    remote.passSilent(250);
    remote.isDown = false;
    await find(remote);
    t.equal(remote.queries, queries + 1);
  });

  t.test('calls that need it are refused at once during the cool-down', async (t) => {
    const remote = new Remote();
    await find(remote);
    remote.isDown = true;
    remote.passSilent(1_000);
    await find(remote);
    const { queries } = remote;
    const refusal = { code: 'store_unavailable' };
    await t.rejects(async () => remote.records.findUserByName('u'), refusal);
    await t.rejects(remote.records.deleteApiKey('k', { children: false }), refusal);
    t.equal(remote.queries, queries);
    t.match(find(remote), { key: { id: 'k' } }, 'and what was not changed stays cached');
    remote.isDown = false;
    remote.passSilent(250);
    t.match(await remote.records.findUserByName('u'), { user: { id: 'u' } });
  });

  t.test('a result invalidated during its query is not cached', async (t) => {
    for (const changed of ['k', 'another']) {
      const remote = new Remote();
      await find(remote);
      remote.isDown = true;
      remote.passSilent(1_000);
      const { promise, resolve } = Promise.withResolvers<void>();
      remote.gate = promise;
      const response = find(remote);
      remote.notify({ keys: [changed], users: [] });
      resolve();
      if (changed === 'k') await t.rejects(async () => response, { code: 'store_unavailable' });
      else t.match(await response, { key: { id: 'k' } }, 'what was not invalidated does');
    }
  });

  t.test(
    'a cached result is waited for less long than an unknown one, and no other query is refused',
    async (t) => {
      const remote = new Remote();
      await find(remote);
      remote.passSilent(1_000);
      const { promise, resolve } = Promise.withResolvers<void>();
      remote.gate = promise;
      const sinceMs = performance.now();
      t.match(await find(remote), { key: { id: 'k' } });
      t.ok(performance.now() - sinceMs > 390, 'not earlier');
      judgeElapsed(t, sinceMs, 900);
      const unseen = remote.records.findUser('u');
      resolve();
      t.match(await unseen, { user: { id: 'u' } });
    },
  );

  t.test('a probe of the store blocks no other call', async (t) => {
    const remote = new Remote();
    await find(remote);
    remote.isDown = true;
    remote.passSilent(1_000);
    await find(remote);
    remote.passNotified(3_600_000);
    remote.notify(null);
    remote.isDown = false;
    const { promise, resolve } = Promise.withResolvers<void>();
    remote.gate = promise;
    const queries = [
      find(remote),
      remote.records.findUser('u'),
      remote.records.deleteApiKey('k', { children: false }),
    ];
    resolve();
    t.match(await Promise.all(queries), [{ key: { id: 'k' } }, { user: { id: 'u' } }, ['k']]);
  });

  t.test('a failed write invalidates no other record', async (t) => {
    const remote = new Remote();
    await find(remote);
    remote.isDown = true;
    await t.rejects(async () => remote.records.deleteApiKey('other', { children: false }));
    remote.passSilent(1_000);
    t.match(await find(remote), { key: { id: 'k' } });
  });
});
