import t from 'tap';
import { Refusal } from '../../src/errors.ts';
import { isFirstInInterval } from '../../src/runtime/background-work.ts';

const minute = 60_000;

/** What all replicas share. */
function createShared() {
  const used = new Map<string, number>();
  return {
    used,
    async consume(id: string, expires: number) {
      if (used.has(id)) return false;
      used.set(id, expires);
      return true;
    },
  };
}

t.test('a single replica does the work in each interval', async (t) => {
  const shared = createShared();
  const at = (now: number) => isFirstInInterval(shared, 'prune', minute, now);
  t.strictSame([await at(minute), await at(minute + 1), await at(2 * minute - 1)], [true, false, false]);
  t.strictSame([await at(2 * minute), await at(2 * minute)], [true, false]);
  t.equal(await isFirstInInterval(shared, 'other work', minute, 2 * minute), true);
  for (const expires of shared.used.values())
    t.ok(expires > 3_600_000, 'whose clock is behind finds it, too');
});

t.test('every replica does the work while the store is unavailable', async (t) => {
  const away = {
    consume: async () => {
      throw new Refusal('store_unavailable');
    },
  };
  t.equal(await isFirstInInterval(away, 'prune', minute, 0), true);
});
