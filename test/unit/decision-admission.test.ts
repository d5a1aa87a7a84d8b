import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { mock } from 'node:test';
import t from 'tap';
import { Admission, Strangers } from '../../src/forward-auth/admission.ts';

mock.timers.enable({ apis: ['setTimeout'] });
t.teardown(() => mock.timers.reset());

/** A socket from that address, as far as an admission knows it. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  destroyed = false;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

function setUp({ strangers = 2, connections = 2 } = {}) {
  const proxies = new Set(['192.0.2.1']);
  const all = new Strangers(strangers);
  const state = { hasRoom: true, refused: 0 };
  const admission = new Admission({
    isProxy: (address) => proxies.has(address),
    mostConnections: () => connections,
    hasRoom: () => state.hasRoom,
    onRefused: () => {
      state.refused += 1;
    },
    strangers: all,
  });
  const open = (address: string) => {
    const socket = new FakeSocket(address);
    if (!admission.admits(socket as unknown as Socket)) socket.destroy();
    return socket;
  };
  return { admission, proxies, all, state, open };
}

t.test('a stranger is there for a second, and counts for nothing', async (t) => {
  const { admission, all, state, open } = setUp();
  state.hasRoom = false;
  const stranger = open('192.0.2.9');
  mock.timers.tick(999);
  t.notOk(stranger.destroyed);
  t.equal(all.count, 1);
  t.equal(admission.connections, 0);
  mock.timers.tick(1);
  t.ok(stranger.destroyed);
  t.equal(all.count, 0);
  t.equal(state.refused, 0);
});

t.test('the oldest of too many strangers is disconnected', async (t) => {
  const { all, open } = setUp();
  const [first, second, third] = [open('192.0.2.7'), open('192.0.2.8'), open('192.0.2.9')];
  t.strictSame([first.destroyed, second.destroyed, third.destroyed], [true, false, false]);
  second.destroy();
  t.equal(all.count, 1);
  mock.timers.tick(1_000);
  t.ok(third.destroyed);
});

t.test('a proxy stays, as far as there is room', async (t) => {
  const { admission, state, open } = setUp();
  const first = open('::ffff:192.0.2.1');
  for (let i = 0; i < 10; i++) open('192.0.2.9');
  const second = open('192.0.2.1');
  t.ok(open('192.0.2.1').destroyed, 'one more than may be open');
  second.destroy();
  state.hasRoom = false;
  t.ok(open('192.0.2.1').destroyed, 'no room');
  t.equal(state.refused, 2);
  mock.timers.tick(60_000);
  t.notOk(first.destroyed);
  t.equal(admission.connections, 1);
});

t.test('a peer admitted by a reload stays; a removed one is disconnected once it is answered', async (t) => {
  const { admission, proxies, all, open } = setUp();
  const [former, stranger] = [open('192.0.2.1'), open('192.0.2.2')];
  proxies.clear();
  proxies.add('192.0.2.2');
  admission.peersChanged();
  mock.timers.tick(9_999);
  t.strictSame([former.destroyed, stranger.destroyed], [false, false]);
  t.equal(all.count, 0);
  t.equal(admission.connections, 2);
  mock.timers.tick(1);
  t.strictSame([former.destroyed, stranger.destroyed], [true, false]);
  t.equal(admission.connections, 1);
});

t.test('a reload that is taken back disconnects no one', async (t) => {
  const { admission, proxies, open } = setUp();
  const socket = open('192.0.2.1');
  proxies.clear();
  admission.peersChanged();
  proxies.add('192.0.2.1');
  admission.peersChanged();
  mock.timers.tick(20_000);
  t.notOk(socket.destroyed);
});
