import t from 'tap';
import { watchIdleness } from '../../src/workers/idle-garbage.ts';

t.test('garbage is collected once each time the process becomes idle', async (t) => {
  let collected = 0;
  const watch = watchIdleness(() => collected++);
  const after = (...shares: number[]) => {
    for (const share of shares) watch(share);
    return collected;
  };
  t.equal(after(0.9, 0.01), 0, 'an idle interval is no idleness yet');
  t.equal(after(0.02), 1);
  t.equal(after(0.01, 0.015, 0), 1, 'not again while it stays idle');
  t.equal(after(0.5, 0, 0.5, 0), 1);
  t.equal(after(0), 2, 'again after load');
});
