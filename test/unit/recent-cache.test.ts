import t from 'tap';
import { RecentCache } from '../../src/stores/recent-cache.ts';

function filled(size: number, count: number): RecentCache<number> {
  const cache = new RecentCache<number>(size);
  for (let i = 0; i < count; i++) cache.set(`${i}`, i);
  return cache;
}

t.test('the entries set last are there, and few others', async (t) => {
  const cache = filled(10, 1_000);
  for (let i = 990; i < 1_000; i++) t.equal(cache.get(`${i}`), i);
  t.equal(cache.get('0'), undefined);
  t.ok([...cache.values()].length <= 20);
});

t.test('an entry that is asked for stays, however many others come', async (t) => {
  const cache = filled(10, 1);
  for (let i = 1; i < 1_000; i++) {
    cache.set(`${i}`, i);
    t.equal(cache.get('0'), 0);
  }
});

t.test('as many as its size stay when each is asked for in turn', async (t) => {
  const cache = filled(100, 100);
  let missed = 0;
  for (let round = 0; round < 10; round++)
    for (let i = 0; i < 100; i++) if (cache.get(`${i}`) === undefined) missed++;
  t.equal(missed, 0);
});

t.test('an entry that is set again has one value, in whichever generation it was', async (t) => {
  const cache = filled(10, 15);
  for (const key of ['2', '12']) cache.set(key, -1);
  t.same([cache.get('2'), cache.get('12')], [-1, -1]);
  const values = [...cache.values()];
  t.equal(new Set(values).size, values.length - 1, 'both, and no other twice');
});

t.test('a deleted entry is gone, in whichever generation it was', async (t) => {
  const cache = filled(10, 15);
  t.same(
    ['2', '12', 'unknown', '2'].map((key) => cache.delete(key)),
    [true, true, false, false],
  );
  t.same(
    [cache.get('2'), cache.get('12'), cache.has('2'), cache.has('3')],
    [undefined, undefined, false, true],
  );
  cache.clear();
  t.same([...cache.values()], []);
  t.equal(cache.get('14'), undefined);
});

t.test('each entry is listed once, and may be deleted meanwhile', async (t) => {
  const cache = filled(10, 15);
  const keys: string[] = [];
  for (const [key, value] of cache.entries()) {
    t.equal(key, `${value}`);
    keys.push(key);
    cache.delete(key);
  }
  t.same(
    keys.sort((one, other) => Number(one) - Number(other)),
    Array.from({ length: 15 }, (_, i) => `${i}`),
  );
  t.same([...cache.values()], []);
});
