import t from 'tap';
import { ClockTrack, createSteadyClock } from '../../src/stores/steady-clock.ts';

function createClockInHand() {
  let time = 1_000_000;
  let elapsed = 0;
  const clock = createSteadyClock(
    () => time,
    () => elapsed,
  );
  return {
    clock,
    set: (ms: number) => {
      time += ms;
    },
    pass: (ms: number) => {
      time += ms;
      elapsed += ms;
    },
  };
}

t.test('a clock that is set back goes on unbroken until it has caught up', async (t) => {
  const { clock, set, pass } = createClockInHand();
  t.equal(clock.unbroken(), 1_000_000);
  pass(500);
  set(3_600_000);
  t.equal(clock.unbroken(), 4_600_500, 'set forward, it follows');
  pass(500);
  set(-60_000);
  t.equal(clock.now(), 4_541_000);
  t.equal(clock.unbroken(), 4_601_000, 'set back, it stays');
  pass(59_999);
  t.equal(clock.unbroken(), 4_660_999, 'and goes on with what passes');
  pass(1);
  t.equal(clock.unbroken(), 4_601_000, 'it is as late as when the clock was set');
  t.equal(clock.unbroken(), clock.now());
});

t.test('the last step counts, and no step within the tolerance does', async (t) => {
  const { clock, set, pass } = createClockInHand();
  set(-2_000);
  t.equal(clock.unbroken(), 998_000);
  set(-50_000);
  t.equal(clock.unbroken(), 998_000);
  pass(10_000);
  set(-20_000);
  t.equal(clock.unbroken(), 958_000);
  set(20_000);
  t.equal(clock.unbroken(), clock.now(), 'the step was taken back');
});

t.test('a step within the uncertainty of readings does not count', async (t) => {
  const track = new ClockTrack(100_000, Number.POSITIVE_INFINITY);
  track.learn(50_000, 0, 1_000);
  t.equal(track.unbroken(0), 50_000, 'the first was a guess');
  track.learn(46_000, 0, 1_000);
  t.equal(track.unbroken(0), 46_000, 'both may be wrong by a second');
  track.learn(41_999, 0, 1_000);
  t.equal(track.unbroken(0), 46_000);
});
