import t from 'tap';
import { createDeck } from '../model/machine/deck.ts';
import { ClockSteps } from '../model/promises/clock-error.ts';
import { Rotation } from '../model/promises/rotation.ts';
import { createRandom } from '../support/random.ts';

t.test('every fault comes once before one comes twice, in the order of its seed', async (t) => {
  const drawn = (seed: number) => {
    const deck = createDeck(createRandom(seed), ['a', 'b', 'c', 'd']);
    return Array.from({ length: 12 }, () => deck.draw());
  };
  for (let round = 0; round < 3; round++)
    t.strictSame(
      drawn(1)
        .slice(4 * round, 4 * round + 4)
        .toSorted(),
      ['a', 'b', 'c', 'd'],
    );
  t.strictSame(drawn(1), drawn(1));
  t.notSame(drawn(1), drawn(2));
});

t.test('a step of a clock counts while it lasts, and until the clock has caught up', async (t) => {
  const clocks = new ClockSteps(30);
  const step = clocks.begin(10_000, 6_000);
  t.strictSame(clocks.error(0, 9_999, 0), { aheadMs: 30, behindMs: 30 }, 'not before');
  t.strictSame(clocks.error(12_000, 13_000, 12_000), { aheadMs: 6_030, behindMs: 2_030 });
  step.until = 14_000;
  t.strictSame(clocks.error(20_000, 21_000, 20_000), { aheadMs: 6_030, behindMs: 2_030 });
  t.strictSame(clocks.error(20_001, 21_000, 20_000), { aheadMs: 30, behindMs: 30 });
  clocks.begin(15_000, 500).until = 16_000;
  t.strictSame(clocks.error(14_500, 15_500, 14_500), { aheadMs: 6_530, behindMs: 2_530 }, 'two add up');
});

t.test('a clock that was set back excuses no rotation that does not come, and no longer grace', async (t) => {
  const clocks = new ClockSteps(0);
  clocks.begin(1_500, 25_000);
  const rotation = new Rotation(
    1_000,
    { from: 0, to: 10, cookie: '1' },
    { clockError: (from, to, lastUse) => clocks.error(from, to, lastUse) },
  );
  const present = (presented: number, given: number, from: number) =>
    rotation.accepted(rotation.begin(presented, from), given, String(given), from + 10);
  t.equal(present(1, 1, 3_000), null, 'for two seconds it may');
  t.match(present(1, 1, 3_100), /was not rotated though its grace was over/);
  t.equal(present(1, 2, 3_200), null);
  t.equal(present(2, 2, 3_300), null);
  t.equal(present(2, 3, 3_400), null, 'early, by a clock that was ahead');
  t.match(present(1, 2, 7_000), /it is reuse/);
});

t.test('a clock that shows again what it showed at the last use may not have been set back', async (t) => {
  const clocks = new ClockSteps(0);
  clocks.begin(1_500, 6_000).until = 3_000;
  t.equal(clocks.error(1_600, 5_999, 2_000).behindMs, 2_000);
  t.equal(clocks.error(1_600, 6_000, 2_000).behindMs, 6_000);
  const rotation = new Rotation(
    1_000,
    { from: 1_600, to: 1_610, cookie: '1' },
    { clockError: (from, to, lastUse) => clocks.error(from, to, lastUse) },
  );
  const present = (from: number) => rotation.accepted(rotation.begin(1, from), 1, '1', from + 10);
  t.equal(present(8_500), null, 'issued at 7,600 by the clock that was ahead');
  t.match(present(8_700), /was not rotated though its grace was over/);
});
