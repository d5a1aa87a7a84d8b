import t from 'tap';
import { createDeck } from '../model/machine/deck.ts';
import { ClockSteps } from '../model/promises/clock-error.ts';
import { Rotation } from '../model/promises/rotation.ts';
import { createRandom } from '../support/corpora/random.ts';

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
  t.strictSame(clocks.error(0, 9_999, [{ from: 0, to: 9_999 }]), { aheadMs: 30, behindMs: 30 }, 'not before');
  t.strictSame(clocks.error(12_000, 13_000, [{ from: 12_000, to: 13_000 }]), {
    aheadMs: 6_030,
    behindMs: 2_030,
  });
  step.until = 14_000;
  t.strictSame(clocks.error(20_000, 21_000, [{ from: 20_000, to: 21_000 }]), {
    aheadMs: 6_030,
    behindMs: 2_030,
  });
  t.strictSame(clocks.error(20_001, 21_000, [{ from: 20_000, to: 21_000 }]), { aheadMs: 30, behindMs: 30 });
  clocks.begin(15_000, 500).until = 16_000;
  t.strictSame(
    clocks.error(14_500, 15_500, [{ from: 14_500, to: 15_500 }]),
    { aheadMs: 6_530, behindMs: 2_530 },
    'two add up',
  );
});

t.test('a clock that was set back excuses no rotation that does not come, and no longer grace', async (t) => {
  const clocks = new ClockSteps(0);
  clocks.begin(1_500, 25_000);
  const rotation = new Rotation(
    1_000,
    { from: 0, to: 10, cookie: '1' },
    { clockError: (...time) => clocks.error(...time) },
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
  t.equal(clocks.error(1_600, 5_999, [{ from: 2_000, to: 5_999 }]).behindMs, 2_000);
  t.equal(clocks.error(1_600, 6_000, [{ from: 2_000, to: 6_000 }]).behindMs, 6_000);
  const rotation = new Rotation(
    1_000,
    { from: 1_600, to: 1_610, cookie: '1' },
    { clockError: (...time) => clocks.error(...time) },
  );
  const present = (from: number) => rotation.accepted(rotation.begin(1, from), 1, '1', from + 10);
  t.equal(present(8_500), null, 'issued at 7,600 by the clock that was ahead');
  t.match(present(8_700), /was not rotated though its grace was over/);
});

t.test('later uses can’t tell a time that an earlier use could not', async (t) => {
  const clocks = new ClockSteps(0);
  clocks.begin(10_000, 6_000).until = 12_000;
  const rotation = new Rotation(
    1_000,
    { from: 11_000, to: 11_010, cookie: '1' },
    { clockError: (...time) => clocks.error(...time) },
  );
  const present = (from: number) => rotation.accepted(rotation.begin(1, from), 1, '1', from + 10);
  t.equal(present(16_900), null, 'the clock that was set back shows what it showed at the sign-in');
  t.equal(present(17_500), null, 'and the grace lasts as much longer');
  t.match(present(18_100), /was not rotated though its grace was over/);
});
