import t, { type Test } from 'tap';
import type { SingleUse } from '../../src/stores/single-use.ts';
import { startOfTime } from './fixtures.ts';

/** A store of used values with a clock, starting at {@link startOfTime}, controlled by the test. */
export interface SingleUseUnderTest {
  readonly store: SingleUse;
  /** Another connection to the same data, as another process has it. */
  openSecond(): SingleUse | Promise<SingleUse>;
  advance(ms: number): void | Promise<void>;
}

/** How the suite gets a store; each call gives an empty one. */
export interface SingleUseFactory {
  readonly name: string;
  create(t: Test): SingleUseUnderTest | Promise<SingleUseUnderTest>;
}

const expires = startOfTime + 60_000;

/** The contract of every store of used values. */
export function runSingleUseSuite({ name, create }: SingleUseFactory): void {
  t.test(`${name}: a used value stays used, on every connection, until its end and after`, async (t) => {
    const { store, openSecond, advance } = await create(t);
    const second = await openSecond();
    t.equal(await store.consume('a', expires), true);
    t.equal(await store.consume('a', expires), false);
    t.equal(await second.consume('a', expires), false);
    for (const each of [store, second]) {
      t.equal(await each.wasConsumed('a'), true);
      t.equal(await each.wasConsumed('b'), false);
    }
    t.equal(await second.consume('b', expires), true, 'another value is another');
    await advance(59_999);
    t.equal(await store.consume('a', expires), false);
    await advance(1);
    t.equal(await store.consume('a', expires), false, 'its time is over');
    t.equal(await store.consume('never seen', expires), false, "an expired value can't be used");
  });

  t.test(`${name}: a released value can be used again, once, on every connection`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    t.equal(await store.consume('a', expires), true);
    await store.release('a');
    t.equal(await second.consume('a', expires), true);
    t.equal(await store.consume('a', expires), false);
    await second.release('a');
    t.equal(await store.wasConsumed('a'), false);
    await second.release('never used');
    t.equal(await store.consume('never used', expires), true);
  });

  t.test(`${name}: of many uses at once, one succeeds`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    const uses = Array.from({ length: 20 }, (_, index) => (index % 2 ? store : second).consume('a', expires));
    t.equal((await Promise.all(uses)).filter((isFirst) => isFirst).length, 1);
  });
}
