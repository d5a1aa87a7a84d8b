import t from 'tap';
import { createRecentUse } from '../../src/credentials/recent-use.ts';
import { Refusal } from '../../src/errors.ts';
import { sessionTimes } from '../contract/fixtures.ts';

/** Stores that keep what they are told, unless they are unavailable. */
function setUp() {
  const written: Record<string, [string, number][]> = { keys: [], sessions: [] };
  const unavailable = new Set<string>();
  const require = (store: string) => {
    if (unavailable.has(store)) throw new Refusal('store_unavailable');
  };
  const recentUse = createRecentUse({
    records: {
      async noteUse(keys) {
        require('records');
        written.keys!.push(...keys);
      },
    },
    sessions: {
      async noteUse(uses, times) {
        require('sessions');
        t.equal(times, sessionTimes);
        written.sessions!.push(...uses);
      },
    },
    times: () => sessionTimes,
  });
  return { recentUse, written, unavailable };
}

t.test('a use is written once, with its last instant', async (t) => {
  const { recentUse, written } = setUp();
  for (const instant of [1, 2]) {
    recentUse.noteKey('key', instant);
    recentUse.noteSession('session', instant);
  }
  await recentUse.flush();
  await recentUse.flush();
  t.strictSame(written, { keys: [['key', 2]], sessions: [['session', 2]] });
});

t.test('uses wait for a store that fails, and the other store is written', async (t) => {
  for (const store of ['records', 'sessions']) {
    const { recentUse, written, unavailable } = setUp();
    unavailable.add(store);
    recentUse.noteKey('key', 1);
    recentUse.noteSession('session', 1);
    recentUse.noteSession('other session', 1);
    await t.rejects(recentUse.flush(), { code: 'store_unavailable' });
    t.equal(written.keys!.length, store === 'records' ? 0 : 1);
    t.equal(written.sessions!.length, store === 'sessions' ? 0 : 2);
    unavailable.clear();
    recentUse.noteSession('session', 2);
    await recentUse.flush();
    t.strictSame(written.keys, [['key', 1]]);
    t.strictSame(
      new Map(written.sessions),
      new Map([
        ['session', 2],
        ['other session', 1],
      ]),
      store,
    );
  }
});
