import t from 'tap';
import { BodyPace } from '../../src/http1/server/body-pace.ts';

const second = 1_000;
const judgedAfterMs = 30 * second;
const forwarded = { leastBytesPerSecond: 1_024, wholeTimeoutMs: Number.POSITIVE_INFINITY };

/** A body that begins at 0 and brings so many bytes each second, until `untilMs`. */
function steady(bytesPerSecond: number, untilMs: number, limits = forwarded): BodyPace {
  const pace = new BodyPace(limits, judgedAfterMs, 0);
  for (let at = second; at <= untilMs; at += second) pace.count(bytesPerSecond);
  return pace;
}

t.test('a body slower than the least rate is too slow, once it was read for so long', async (t) => {
  const pace = steady(1_000, 30 * second);
  t.notOk(pace.isTooSlow(29_999));
  t.ok(pace.isTooSlow(30 * second));
});

t.test('a body of the least rate never is', async (t) => {
  for (const at of [30, 60, 3_600]) t.notOk(steady(1_024, at * second).isTooSlow(at * second));
});

t.test('the rate is that of the whole time: what was fast may rest for a while', async (t) => {
  const pace = steady(1_024 * 60, second);
  t.notOk(pace.isTooSlow(59 * second));
  t.ok(pace.isTooSlow(61 * second));
});

t.test('the time in which the client was told to wait does not count', async (t) => {
  const pace = steady(1_024, 10 * second);
  pace.pause(10 * second);
  pace.pause(20 * second);
  t.notOk(pace.isTooSlow(10_000 * second));
  pace.resume(10_000 * second);
  pace.resume(10_010 * second);
  t.notOk(pace.isTooSlow(10_019 * second));
  t.ok(pace.isTooSlow(10_020 * second));
});

t.test('without a least rate a body may take any time', async (t) => {
  t.notOk(steady(0, second, { ...forwarded, leastBytesPerSecond: 0 }).isTooSlow(1e9));
});

t.test('the whole time is bounded however fast a body comes', async (t) => {
  const pace = steady(1e6, 30 * second, { leastBytesPerSecond: 0, wholeTimeoutMs: 30 * second });
  t.notOk(pace.isTooSlow(30 * second));
  t.ok(pace.isTooSlow(30 * second + 1));
});
