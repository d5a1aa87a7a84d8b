import t from 'tap';
import { LiveMemory, type Subscription } from '../../src/stores/redis/live-memory.ts';

const staleMs = 30_000;
const session = (id: string) => ({ id, userId: 'user', expires: 1_000_000 });
const heard = (since: number, until: number): Subscription => ({ since: null, lastSince: since, until });

function setUp() {
  const memory = new LiveMemory(5_000);
  for (const id of ['a', 'b']) memory.remember(session(id), 1_000);
  return memory;
}

t.test(
  'a session whose end would have been heard counts from the moment the store was last heard',
  async (t) => {
    const memory = setUp();
    const subscription = heard(500, 60_000);
    t.match(memory.aliveWithin('a', staleMs, 60_000 + staleMs - 1, subscription), { id: 'a' });
    t.equal(memory.aliveWithin('a', staleMs, 60_000 + staleMs, subscription), undefined);
  },
);

t.test('one that was seen before anything could be heard counts from when it was seen', async (t) => {
  const memory = setUp();
  for (const subscription of [heard(1_001, 60_000), heard(Number.POSITIVE_INFINITY, 0)]) {
    t.match(memory.aliveWithin('a', staleMs, 1_000 + staleMs - 1, subscription), { id: 'a' });
    t.equal(memory.aliveWithin('a', staleMs, 1_000 + staleMs, subscription), undefined);
  }
});

t.test('after a session vanished without a word the others count from when they were seen', async (t) => {
  const memory = setUp();
  memory.vanish('b', 50_000, 0);
  t.equal(memory.aliveWithin('a', staleMs, 61_000, heard(500, 60_000)), undefined);
  memory.remember(session('a'), 50_001);
  t.match(memory.aliveWithin('a', staleMs, 61_000, heard(500, 60_000)), { id: 'a' });
});

t.test(
  'one that expired, or whose end is told after it was found gone, says nothing of others',
  async (t) => {
    const memory = setUp();
    memory.vanish('b', 50_000, 1_000_000);
    t.match(memory.aliveWithin('a', staleMs, 61_000, heard(500, 60_000)), { id: 'a' });
    memory.remember(session('c'), 1_000);
    memory.vanish('c', 50_000, 0);
    memory.end('c');
    t.match(memory.aliveWithin('a', staleMs, 61_000, heard(500, 60_000)), { id: 'a' });
  },
);

t.test('one whose end may not have been noted counts from when it was seen', async (t) => {
  const memory = setUp();
  memory.doubt(['a']);
  t.equal(memory.aliveWithin('a', staleMs, 61_000, heard(500, 60_000)), undefined);
  t.equal(memory.aliveWithin('never-seen', staleMs, 0, heard(0, 60_000)), undefined);
});
