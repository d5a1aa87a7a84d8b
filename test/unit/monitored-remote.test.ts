import t from 'tap';
import { Refusal } from '../../src/errors.ts';
import { monitorRemote } from '../../src/stores/monitored-remote.ts';
import type { RemoteRecords } from '../../src/stores/records.ts';

/** A store, the beats of its feed and its clock, all in the test's hand. */
class Remote {
  /** Why nobody can have it. */
  reason: string | null = null;
  /** Why nobody can write. */
  readOnly: string | null = null;
  /** Responses to pings wait for it when it is set. */
  gate: Promise<void> | undefined;
  pings = 0;
  now = 1_000;
  unavailableSince: number | null = null;
  readonly states: string[] = [];
  readonly records: RemoteRecords;
  #beat: (isWell: boolean) => void = () => {};

  constructor() {
    const response = async (reason: string | null) => {
      if (reason !== null) throw new Refusal('store_unavailable', { cause: new Error(reason) });
      return undefined;
    };
    const remote: Partial<RemoteRecords> = {
      findUser: () => response(this.reason),
      removeUser: async () => {
        await response(this.reason ?? this.readOnly);
        throw new Refusal('not_found');
      },
      ping: async () => {
        this.pings += 1;
        const reason = this.reason ?? this.readOnly;
        await this.gate;
        await response(reason);
      },
      close: async () => {},
    };
    this.records = monitorRemote({
      remote: remote as RemoteRecords,
      feed: {
        notifiedUntil: 700,
        onHeartbeat: (listener) => {
          this.#beat = listener;
        },
      },
      events: {
        onUnavailable: (reason, since) => {
          this.states.push(reason);
          this.unavailableSince = since;
        },
        onAvailable: () => this.states.push('back'),
      },
      elapsed: () => this.now,
    });
  }

  /** Resolves when everything that follows of it has been done. */
  async beat(isWell: boolean): Promise<void> {
    this.#beat(isWell);
    await new Promise(setImmediate);
  }
}

t.test('beats alone tell that it goes away and comes back, each time once', async (t) => {
  const remote = new Remote();
  for (const reason of ['gone', 'gone again']) {
    remote.reason = reason;
    await remote.beat(false);
    await remote.beat(false);
    remote.reason = null;
    await remote.beat(true);
    await remote.beat(true);
  }
  t.strictSame(remote.states, ['gone', 'back', 'gone again', 'back']);
});

t.test('while all is well it is not pinged', async (t) => {
  const remote = new Remote();
  await remote.beat(true);
  await remote.records.findUser('u');
  await remote.beat(true);
  t.equal(remote.pings, 0);
});

t.test('a feed that hears nothing of a store that is there says nothing', async (t) => {
  const remote = new Remote();
  await remote.beat(false);
  t.equal(remote.pings, 1);
  t.strictSame(remote.states, []);
});

t.test('any call tells that it is away, and a ping that it is back', async (t) => {
  for (const call of ['findUser', 'removeUser', 'ping'] as const) {
    const remote = new Remote();
    remote.reason = 'gone';
    await t.rejects(async () => remote.records[call]('u', { keepKeys: false }), {
      code: 'store_unavailable',
    });
    t.strictSame(remote.states, ['gone'], call);
    remote.reason = null;
    await remote.records.ping();
    t.strictSame(remote.states, ['gone', 'back'], call);
  }
});

t.test('it has been away since it was last heard', async (t) => {
  const remote = new Remote();
  remote.now = 2_000;
  remote.reason = 'gone';
  await remote.beat(false);
  t.equal(remote.unavailableSince, 700);
});

t.test('another refusal is a response', async (t) => {
  const remote = new Remote();
  await t.rejects(async () => remote.records.removeUser('u', { keepKeys: false }), { code: 'not_found' });
  t.strictSame(remote.states, []);
});

t.test('one that takes no writes is away, however well it can be read', async (t) => {
  const remote = new Remote();
  remote.readOnly = 'server is read-only';
  await remote.beat(false);
  await remote.records.findUser('u');
  await remote.beat(true);
  t.strictSame(remote.states, ['server is read-only']);
  remote.readOnly = null;
  await remote.beat(true);
  t.strictSame(remote.states, ['server is read-only', 'back']);
});

t.test('a ping that takes too long has failed, also when it is answered in the end', async (t) => {
  const remote = new Remote();
  const { promise, resolve } = Promise.withResolvers<void>();
  remote.gate = promise;
  await remote.beat(false);
  remote.now += 1_000;
  await new Promise((done) => setTimeout(done, 1_100));
  t.strictSame(remote.states, ['timed out']);
  resolve();
  await new Promise(setImmediate);
  t.strictSame(remote.states, ['timed out']);
  await remote.beat(true);
  t.strictSame(remote.states, ['timed out', 'back']);
});

t.test('who asked before it came back, and hears of it late, does not say that it is away', async (t) => {
  const remote = new Remote();
  remote.reason = 'gone';
  const { promise, resolve } = Promise.withResolvers<void>();
  remote.gate = promise;
  const early = t.rejects(async () => remote.records.ping());
  remote.reason = null;
  remote.gate = undefined;
  remote.now += 100;
  await remote.records.ping();
  resolve();
  await early;
  t.strictSame(remote.states, []);
});

t.test('once it is closed nothing is said or asked', async (t) => {
  const remote = new Remote();
  await remote.records.close();
  remote.reason = 'gone';
  await t.rejects(async () => remote.records.findUser('u'));
  await remote.beat(false);
  t.strictSame(remote.states, []);
  t.equal(remote.pings, 0);
});
