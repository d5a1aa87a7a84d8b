import t from 'tap';
import { watchIdleness } from '../../src/workers/process-memory.ts';

t.test('garbage is collected once each time the process becomes idle', async (t) => {
  let collected = 0;
  const watch = watchIdleness(() => collected++);
  const after = (...shares: number[]) => {
    for (const share of shares) watch(share);
    return collected;
  };
  const minute = new Array<number>(12).fill(0.01);
  t.equal(after(0.9, 0.01), 0, 'an idle interval is no idleness yet');
  t.equal(after(0.5, 0.02, 0.01), 1, 'after the start, ten seconds are');
  t.equal(after(...minute, ...minute), 1, 'not again while it stays idle');
  t.equal(after(0.5, ...minute.slice(1), 0.5), 1, 'load that comes back within a minute is not interrupted');
  t.equal(after(...minute), 2, 'again after load');
  t.equal(after(...minute), 2);
});
