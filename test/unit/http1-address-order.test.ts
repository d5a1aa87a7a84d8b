import t from 'tap';
import {
  AddressOrder,
  firstRetryMs,
  maxAddresses,
  maxRetryMs,
} from '../../src/http1/client/address-order.ts';

t.test('addresses that connect take turns', async (t) => {
  const order = new AddressOrder();
  const three = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
  const firsts = Array.from({ length: 6 }, () => {
    const [first] = order.next(three, 0);
    order.worked(first!);
    return first;
  });
  t.strictSame(firsts, [...three, ...three]);
});

t.test('the families alternate', async (t) => {
  const order = new AddressOrder();
  t.strictSame(order.next(['fd00::1', 'fd00::2', 'fd00::3', '10.0.0.1'], 0), [
    'fd00::1',
    '10.0.0.1',
    'fd00::2',
    'fd00::3',
  ]);
  t.strictSame(new AddressOrder().next(['10.0.0.1', 'fd00::1', 'fd00::2'], 0), [
    '10.0.0.1',
    'fd00::1',
    'fd00::2',
  ]);
});

t.test('addresses that failed come last, until it is time to try one of them again', async (t) => {
  const order = new AddressOrder();
  const all = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
  order.failed('10.0.0.1', 0);
  order.failed('10.0.0.2', 0);
  const firstAt = (now: number) => order.next(all, now)[0];
  t.equal(firstAt(1), '10.0.0.3');
  t.equal(firstAt(firstRetryMs - 1), '10.0.0.3');
  t.equal(firstAt(firstRetryMs), '10.0.0.1');
  t.equal(firstAt(firstRetryMs), '10.0.0.2', 'no other connection waits for the same');
  t.equal(firstAt(firstRetryMs), '10.0.0.3');
  t.strictSame(order.next(all, firstRetryMs).toSorted(), all, 'all are tried, each once');
  order.failed('10.0.0.1', firstRetryMs);
  order.worked('10.0.0.2');
  t.strictSame(
    [firstAt(firstRetryMs * 2), firstAt(firstRetryMs * 2)].toSorted(),
    ['10.0.0.2', '10.0.0.3'],
    'the one that connects again has its turns',
  );
  t.notSame(firstAt(firstRetryMs * 3 - 1), '10.0.0.1', 'the other is tried after twice the time');
  t.equal(firstAt(firstRetryMs * 3), '10.0.0.1');
});

t.test('the time doubles up to ten minutes', async (t) => {
  const order = new AddressOrder();
  const both = ['10.0.0.1', '10.0.0.2'];
  for (let i = 0; i < 20; i++) order.failed('10.0.0.1', 0);
  t.equal(order.next(both, maxRetryMs - 1)[0], '10.0.0.2');
  t.equal(order.next(both, maxRetryMs)[0], '10.0.0.1');
});

t.test('a failure of all addresses counts against none', async (t) => {
  const order = new AddressOrder();
  const both = ['10.0.0.1', '10.0.0.2'];
  for (const address of both) order.failed(address, 0);
  const firsts = [order.next(both, 1)[0], order.next(both, 1)[0]];
  t.strictSame(firsts.toSorted(), both);
});

t.test('an address that the name has lost is forgotten', async (t) => {
  const order = new AddressOrder();
  order.failed('10.0.0.1', 0);
  order.next(['10.0.0.2'], 0);
  t.strictSame([1, 2].map(() => order.next(['10.0.0.1', '10.0.0.2'], 0)[0]).toSorted(), [
    '10.0.0.1',
    '10.0.0.2',
  ]);
});

t.test('a connection tries a bounded number of addresses', async (t) => {
  const many = Array.from({ length: 1_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
  t.equal(new AddressOrder().next(many, 0).length, maxAddresses);
});
