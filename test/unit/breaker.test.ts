import t from 'tap';
import { Refusal } from '../../src/errors.ts';
import { createBreaker } from '../../src/stores/remote/breaker.ts';

/** A call that ends when it is told to. */
function createCall() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return {
    call: () => promise,
    succeed: () => resolve('done'),
    fail: () => reject(new Refusal('store_unavailable')),
  };
}

/** A breaker on a clock of its own, which stands still. */
function startBreaker() {
  let now = 1_000;
  const breaker = createBreaker({ timeoutMs: 60_000, elapsed: () => now });
  return { breaker, pass: (milliseconds: number) => (now += milliseconds) };
}

t.test('after a failure no call is made for a quarter of a second, and then one', async (t) => {
  const { breaker, pass } = startBreaker();
  const failing = createCall();
  const failed = breaker.run(failing.call);
  failing.fail();
  await t.rejects(failed, { code: 'store_unavailable' });
  t.ok(breaker.isOpen());
  pass(249);
  t.ok(breaker.isCoolingDown());
  pass(1);
  t.notOk(breaker.isOpen());
  const probe = createCall();
  const probing = breaker.run(probe.call);
  t.ok(breaker.isOpen(), 'while the probe is being made');
  probe.succeed();
  t.equal(await probing, 'done');
  t.notOk(breaker.isOpen());
});

t.test('a call from before the store was back may fail late without keeping others from it', async (t) => {
  const { breaker, pass } = startBreaker();
  const late = createCall();
  const failed = breaker.run(late.call);
  pass(100);
  const good = createCall();
  const succeeded = breaker.run(good.call);
  good.succeed();
  await succeeded;
  late.fail();
  await t.rejects(failed, { code: 'store_unavailable' });
  t.notOk(breaker.isOpen());
});

t.test('other errors say nothing about the store', async (t) => {
  const { breaker } = startBreaker();
  await t.rejects(
    breaker.run(() => Promise.reject(new Refusal('conflict'))),
    { code: 'conflict' },
  );
  t.notOk(breaker.isOpen());
});
