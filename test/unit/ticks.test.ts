import t from 'tap';
import { onTicks } from '../../src/ticks.ts';
import { eventually } from '../support/eventually.ts';

t.test('calls of different intervals fall on the same ticks', async (t) => {
  // Only turns of the event loop in which something ran are counted.
  const turns: string[][] = [];
  let turn: string[] | null = null;
  const note = (name: string) => () => {
    if (turn === null) {
      turn = [];
      turns.push(turn);
      setTimeout(() => {
        turn = null;
      }, 100);
    }
    turn.push(name);
  };
  const stops = [onTicks(500, note('often')), onTicks(1_000, note('seldom'))];
  // The timers themselves don't keep the process alive.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  await eventually(
    'both have run together twice',
    () => turns.filter((each) => each.length === 2).length >= 2,
  );
  for (const stop of stops) stop();
  t.notOk(turns.some((each) => each.join() === 'seldom'));
  const before = turns.length;
  await new Promise((resolve) => setTimeout(resolve, 600));
  t.equal(turns.length, before, 'nothing runs once it is stopped');
});

t.test('ticks go on once something needs them again', async (t) => {
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  for (let round = 0; round < 2; round++) {
    let calls = 0;
    const stop = onTicks(500, () => {
      calls += 1;
    });
    await eventually('it has run', () => calls > 0);
    stop();
    // The last tick finds nothing to run.
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
});
