import t from 'tap';
import { growthPerMinute, secondHalf } from '../soak/trend.ts';

const readingsOf = (at: (second: number) => number) =>
  Array.from({ length: 121 }, (_, second) => ({ second, value: at(second) }));

t.test('growth is told from noise', async (t) => {
  const noise = (second: number) => 20 * Math.sin(second * 2.4);
  t.equal(Math.round(growthPerMinute(readingsOf((second) => 300 + second / 60))), 1);
  t.ok(Math.abs(growthPerMinute(readingsOf((second) => 300 + noise(second)))) < 0.6, 'noise alone');
  t.ok(growthPerMinute(readingsOf((second) => 300 + noise(second) + second / 20)) > 2, 'growth beneath it');
  t.ok(growthPerMinute(readingsOf((second) => 300 - second)) < -50, 'what shrinks');
  t.equal(growthPerMinute([]), 0);
});

t.test('a start that grows has no part in the second half', async (t) => {
  const readings = readingsOf((second) => Math.min(second, 50));
  t.equal(growthPerMinute(secondHalf(readings, 120)), 0);
  t.ok(growthPerMinute(readings) > 5);
});
