import t, { type Test } from 'tap';
import { Refusal } from '../../src/errors.ts';
import type { ApiKeyWithOwner } from '../../src/stores/api-key.ts';
import { createCachedRecords } from '../../src/stores/cached-records.ts';
import type { RecordsChange } from '../../src/stores/change-feed.ts';
import type { Records, RemoteRecords } from '../../src/stores/records.ts';
import type { UserWithSets } from '../../src/stores/user.ts';
import { hashOf, newKey, newUser } from '../contract/fixtures.ts';

const staleIfErrorMs = 30_000;

/** A remote store of one key and one user, its feed and its clock, all in the test's hand. */
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
  };
  user: UserWithSets | undefined = { user: newUser('u'), grants: [], sets: [] };
  isDown = false;
  /** Answers wait for it when it is set. */
  gate: Promise<void> | undefined;
  asked = 0;
  now = 1_000;
  notifiedUntil = 1_000;
  #tell: (change: RecordsChange | null) => void = () => {};
  readonly records: Records;

  constructor() {
    const response = async <T>(value: () => T): Promise<T> => {
      this.asked += 1;
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
        get notifiedUntil() {
          return self.notifiedUntil;
        },
        onChange: (listener) => {
          this.#tell = listener;
        },
        onHeartbeat: () => {},
        close: async () => {},
      },
      staleIfErrorMs,
      elapsed: () => this.now,
    });
  }

  /** Time passes, all of it heard. */
  passHeard(ms: number): void {
    this.now += ms;
    this.notifiedUntil = this.now;
  }

  passUnheard(ms: number): void {
    this.now += ms;
  }

  tell(change: RecordsChange | null): void {
    this.#tell(change);
  }
}

const find = ({ records }: Remote) => records.findApiKeyByHash(hashOf('k'));

t.test('what is remembered and heard is answered without a wait', async (t) => {
  const remote = new Remote();
  t.ok(find(remote) instanceof Promise);
  await find(remote);
  remote.passHeard(3_600_000);
  const version = remote.records.version();
  t.match(find(remote), { key: { id: 'k' } });
  t.equal(remote.records.version(), version);
  t.equal(remote.asked, 1, 'parallel questions are one');
});

t.test('a change that is told is forgotten at once, and only it', async (t) => {
  const remote = new Remote();
  await find(remote);
  await remote.records.findUser('u');
  const version = remote.records.version();
  remote.tell({ keys: ['other'], users: ['other'] });
  t.not(remote.records.version(), version);
  t.match(find(remote), { key: { id: 'k' } }, 'another key');
  for (const change of [{ keys: ['k'], users: [] }, { keys: [], users: ['owner'] }, null]) {
    remote.tell(change);
    t.ok(find(remote) instanceof Promise, JSON.stringify(change));
    await find(remote);
  }
  remote.tell({ keys: [], users: ['u'] });
  t.ok(remote.records.findUser('u') instanceof Promise);
});

t.test('a response that a change overtook is given and not remembered', async (t) => {
  const remote = new Remote();
  const { promise, resolve } = Promise.withResolvers<void>();
  remote.gate = promise;
  const response = find(remote);
  remote.tell({ keys: ['k'], users: [] });
  resolve();
  await response;
  t.ok(find(remote) instanceof Promise);
});

t.test('a response that only other changes overtook is remembered', async (t) => {
  const remote = new Remote();
  const { promise, resolve } = Promise.withResolvers<void>();
  remote.gate = promise;
  const [key, user] = [find(remote), remote.records.findUser('u')];
  remote.tell({ keys: ['another'], users: ['another'], newKeys: ['k'] });
  resolve();
  await Promise.all([key, user]);
  t.match(find(remote), { key: { id: 'k' } });
  t.match(remote.records.findUser('u'), { user: { id: 'u' } });
});

t.test('that a key was made takes away what is known of no other key, nor of itself', async (t) => {
  const remote = new Remote();
  await find(remote);
  remote.tell({ keys: [], users: [], newKeys: ['k', 'another'] });
  t.match(find(remote), { key: { id: 'k' } });
});

t.test('while nothing is heard a response is trusted for 300 ms', async (t) => {
  const remote = new Remote();
  remote.passUnheard(500);
  await find(remote);
  const version = remote.records.version();
  remote.passUnheard(299);
  t.match(find(remote), { key: { id: 'k' } });
  remote.passUnheard(1);
  t.not(remote.records.version(), version, 'whoever remembers by version looks anew');
  remote.key = undefined;
  t.equal(await find(remote), undefined);
});

t.test('while nothing is heard the version is another one every 250 ms', async (t) => {
  const remote = new Remote();
  remote.passUnheard(500);
  const version = remote.records.version();
  remote.passUnheard(249);
  t.equal(remote.records.version(), version);
  remote.passUnheard(1);
  t.not(remote.records.version(), version);
});

t.test('who asks after a change is not given a response from before it', async (t) => {
  const remote = new Remote();
  const { promise, resolve } = Promise.withResolvers<void>();
  remote.gate = promise;
  const before = find(remote);
  remote.key = undefined;
  remote.tell({ keys: ['k'], users: [] });
  const [after, again] = [find(remote), find(remote)];
  resolve();
  t.match(await before, { key: { id: 'k' } });
  t.strictSame([await after, await again], [undefined, undefined]);
  t.equal(remote.asked, 2, 'parallel questions are one');
});

t.test('an unknown key is remembered briefly, and until any key is made', async (t) => {
  const remote = new Remote();
  remote.key = undefined;
  t.equal(await find(remote), undefined);
  t.equal(find(remote), undefined, 'without a wait');
  remote.tell({ keys: [], users: [], newKeys: ['k'] });
  t.ok(find(remote) instanceof Promise);
  await find(remote);
  remote.passHeard(2_000);
  t.ok(find(remote) instanceof Promise);
});

t.test('our own change is forgotten before it is acknowledged', async (t) => {
  const remote = new Remote();
  await find(remote);
  remote.key = undefined;
  await remote.records.deleteApiKey('k', { children: false });
  t.equal(await find(remote), undefined);
});

t.test('while the store is away', async (t: Test) => {
  t.test('what was alive when it was last heard counts for stale_if_error', async (t) => {
    const remote = new Remote();
    await find(remote);
    remote.passHeard(60_000);
    remote.isDown = true;
    remote.passUnheard(staleIfErrorMs - 1);
    t.match(await find(remote), { key: { id: 'k' } });
    t.doesNotThrow(() => remote.records.version());
    remote.passUnheard(1);
    t.throws(() => find(remote), { code: 'store_unavailable' });
    t.throws(() => remote.records.version(), { code: 'store_unavailable' });
  });

  t.test('a response counts as much as what is heard', async (t) => {
    const remote = new Remote();
    remote.passUnheard(60_000);
    await find(remote);
    remote.isDown = true;
    remote.passUnheard(staleIfErrorMs - 1);
    t.match(await find(remote), { key: { id: 'k' } });
    t.doesNotThrow(() => remote.records.version());
    remote.passUnheard(1);
    t.throws(() => remote.records.version(), { code: 'store_unavailable' });
  });

  t.test('what was never seen is refused', async (t) => {
    const remote = new Remote();
    remote.isDown = true;
    await t.rejects(async () => find(remote), { code: 'store_unavailable' });
  });

  t.test('it is asked now and then, not by every request', async (t) => {
    const remote = new Remote();
    await find(remote);
    remote.isDown = true;
    remote.passUnheard(1_000);
    await find(remote);
    const { asked } = remote;
    for (let index = 0; index < 100; index += 1) t.match(find(remote), { key: { id: 'k' } });
    t.equal(remote.asked, asked);
    remote.passUnheard(250);
    remote.isDown = false;
    await find(remote);
    t.equal(remote.asked, asked + 1);
  });

  t.test('whoever needs it is refused at once just after it was found to be', async (t) => {
    const remote = new Remote();
    await find(remote);
    remote.isDown = true;
    remote.passUnheard(1_000);
    await find(remote);
    const { asked } = remote;
    const refusal = { code: 'store_unavailable' };
    await t.rejects(async () => remote.records.findUserByName('u'), refusal);
    await t.rejects(remote.records.deleteApiKey('k', { children: false }), refusal);
    t.equal(remote.asked, asked);
    t.match(find(remote), { key: { id: 'k' } }, 'and what was not changed is not forgotten');
    remote.isDown = false;
    remote.passUnheard(250);
    t.match(await remote.records.findUserByName('u'), { user: { id: 'u' } });
  });

  t.test('what was forgotten while it was asked for does not count', async (t) => {
    for (const changed of ['k', 'another']) {
      const remote = new Remote();
      await find(remote);
      remote.isDown = true;
      remote.passUnheard(1_000);
      const { promise, resolve } = Promise.withResolvers<void>();
      remote.gate = promise;
      const response = find(remote);
      remote.tell({ keys: [changed], users: [] });
      resolve();
      if (changed === 'k') await t.rejects(async () => response, { code: 'store_unavailable' });
      else t.match(await response, { key: { id: 'k' } }, 'what was not does');
    }
  });

  t.test(
    'what was seen alive is not waited for as long as what was not, nor is anybody else refused',
    async (t) => {
      const remote = new Remote();
      await find(remote);
      remote.passUnheard(1_000);
      const { promise, resolve } = Promise.withResolvers<void>();
      remote.gate = promise;
      const sinceMs = performance.now();
      t.match(await find(remote), { key: { id: 'k' } });
      const tookMs = performance.now() - sinceMs;
      t.ok(tookMs > 390 && tookMs < 900, `${tookMs} ms`);
      const unseen = remote.records.findUser('u');
      resolve();
      t.match(await unseen, { user: { id: 'u' } });
    },
  );

  t.test('whoever finds out whether it is back keeps nobody from it', async (t) => {
    const remote = new Remote();
    await find(remote);
    remote.isDown = true;
    remote.passUnheard(1_000);
    await find(remote);
    remote.passHeard(3_600_000);
    remote.tell(null);
    remote.isDown = false;
    const { promise, resolve } = Promise.withResolvers<void>();
    remote.gate = promise;
    const asked = [
      find(remote),
      remote.records.findUser('u'),
      remote.records.deleteApiKey('k', { children: false }),
    ];
    resolve();
    t.match(await Promise.all(asked), [{ key: { id: 'k' } }, { user: { id: 'u' } }, ['k']]);
  });

  t.test('a sign-in that fails makes nobody else be forgotten', async (t) => {
    const remote = new Remote();
    await find(remote);
    remote.isDown = true;
    await t.rejects(async () => remote.records.deleteApiKey('other', { children: false }));
    remote.passUnheard(1_000);
    t.match(await find(remote), { key: { id: 'k' } });
  });
});
