import t from 'tap';
import { Refusal } from '../../src/errors.ts';
import type { RemoteRecords } from '../../src/stores/records.ts';
import { monitorRemote } from '../../src/stores/remote/monitored-remote.ts';

/** A store, the heartbeats of its feed and its clock, all controlled by the test. */
class Remote {
  /** Why the store is unavailable. */
  reason: string | null = null;
  /** Why writes fail. */
  readOnly: string | null = null;
  /** While set, responses to pings wait for it. */
  gate: Promise<void> | undefined;
  pings = 0;
  now = 1_000;
  unavailableSince: number | null = null;
  readonly states: string[] = [];
  readonly records: RemoteRecords;
  #heartbeat: (isWell: boolean) => void = () => {};

  constructor() {
    const response = async (reason: string | null) => {
      if (reason !== null) throw new Refusal('store_unavailable', { cause: new Error(reason) });
      return undefined;
    };
    const remote: Partial<RemoteRecords> = {
      findUser: () => response(this.reason),
      deleteApiKey: async () => {
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
          this.#heartbeat = listener;
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

  /** Resolves when everything that follows from it has been done. */
  async heartbeat(isWell: boolean): Promise<void> {
    this.#heartbeat(isWell);
    await new Promise(setImmediate);
  }
}

t.test(
  'heartbeats alone report that it becomes unavailable and available again, each time once',
  async (t) => {
    const remote = new Remote();
    for (const reason of ['gone', 'gone again']) {
      remote.reason = reason;
      await remote.heartbeat(false);
      await remote.heartbeat(false);
      remote.reason = null;
      await remote.heartbeat(true);
      await remote.heartbeat(true);
    }
    t.strictSame(remote.states, ['gone', 'back', 'gone again', 'back']);
  },
);

t.test('while all is well it is not pinged', async (t) => {
  const remote = new Remote();
  await remote.heartbeat(true);
  await remote.records.findUser('u');
  await remote.heartbeat(true);
  t.equal(remote.pings, 0);
});

t.test('a feed that is disconnected from an available store reports nothing', async (t) => {
  const remote = new Remote();
  await remote.heartbeat(false);
  t.equal(remote.pings, 1);
  t.strictSame(remote.states, []);
});

t.test('any call reports that it is unavailable, and a ping that it is available again', async (t) => {
  for (const call of ['findUser', 'deleteApiKey', 'ping'] as const) {
    const remote = new Remote();
    remote.reason = 'gone';
    await t.rejects(async () => remote.records[call]('u', { children: false }), {
      code: 'store_unavailable',
    });
    t.strictSame(remote.states, ['gone'], call);
    remote.reason = null;
    await remote.records.ping();
    t.strictSame(remote.states, ['gone', 'back'], call);
  }
});

t.test('it has been unavailable since the last notification', async (t) => {
  const remote = new Remote();
  remote.now = 2_000;
  remote.reason = 'gone';
  await remote.heartbeat(false);
  t.equal(remote.unavailableSince, 700);
});

t.test('another refusal is a response', async (t) => {
  const remote = new Remote();
  await t.rejects(async () => remote.records.deleteApiKey('u', { children: false }), { code: 'not_found' });
  t.strictSame(remote.states, []);
});

t.test('a store that accepts no writes is unavailable, even if it can be read', async (t) => {
  const remote = new Remote();
  remote.readOnly = 'server is read-only';
  await remote.heartbeat(false);
  await remote.records.findUser('u');
  await remote.heartbeat(true);
  t.strictSame(remote.states, ['server is read-only']);
  remote.readOnly = null;
  await remote.heartbeat(true);
  t.strictSame(remote.states, ['server is read-only', 'back']);
});

t.test('a ping that takes too long has failed, even when it is answered in the end', async (t) => {
  const remote = new Remote();
  const { promise, resolve } = Promise.withResolvers<void>();
  remote.gate = promise;
  await remote.heartbeat(false);
  remote.now += 1_000;
  await new Promise((done) => setTimeout(done, 1_100));
  t.strictSame(remote.states, ['timed out']);
  resolve();
  await new Promise(setImmediate);
  t.strictSame(remote.states, ['timed out']);
  await remote.heartbeat(true);
  t.strictSame(remote.states, ['timed out', 'back']);
});

t.test('a late failure of a call from before the recovery does not report an outage', async (t) => {
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

t.test('after it is closed nothing is reported or sent', async (t) => {
  const remote = new Remote();
  await remote.records.close();
  remote.reason = 'gone';
  await t.rejects(async () => remote.records.findUser('u'));
  await remote.heartbeat(false);
  t.strictSame(remote.states, []);
  t.equal(remote.pings, 0);
});
