import t from 'tap';
import { createSteadyClock } from '../../src/stores/steady-clock.ts';

t.test('it shows the time, and continues after that is set back, until it has caught up', async (t) => {
  let time = 1_000_000;
  let elapsed = 0;
  const now = createSteadyClock(
    () => time,
    () => elapsed,
  );
  const pass = (ms: number) => {
    time += ms;
    elapsed += ms;
    return now();
  };
  t.equal(now(), 1_000_000);
  t.equal(pass(500), 1_000_500);
  time += 3_600_000;
  t.equal(now(), 4_600_500, 'set forward, it follows');
  time -= 60_000;
  t.equal(now(), 4_600_500, 'set back, it stands still');
  t.equal(pass(30_000), 4_615_500, 'and continues at half the pace');
  time -= 10_000;
  t.equal(pass(1), 4_615_500, 'even when it is set back again');
  t.equal(pass(19_999), 4_625_500);
  t.equal(pass(90_000), 4_670_500, 'the time has caught up');
  t.equal(pass(1), 4_670_501);
});
