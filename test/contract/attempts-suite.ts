import t, { type Test } from 'tap';
import type { Attempts } from '../../src/stores/attempts.ts';

/** Counters of attempts with a clock controlled by the test. */
export interface AttemptsUnderTest {
  readonly store: Attempts;
  /** Another connection to the same counters, as another process has it. */
  openSecond(): Attempts | Promise<Attempts>;
  advance(ms: number): void | Promise<void>;
}

/** How the suite gets counters; each call gives empty ones. */
export interface AttemptsFactory {
  readonly name: string;
  create(t: Test): AttemptsUnderTest | Promise<AttemptsUnderTest>;
}

const windowMs = 60_000;
const account = { key: 'account:a', points: 3 };
const address = { key: 'address:192.0.2.1', points: 5 };

/** The contract of every store of attempts. */
export function runAttemptsSuite({ name, create }: AttemptsFactory): void {
  t.test(`${name}: attempts pass up to the limit, then wait for the window`, async (t) => {
    const { store, advance } = await create(t);
    for (let index = 0; index < 3; index += 1)
      t.match(await store.count([account], windowMs), { allowed: true });
    await advance(20_000);
    const refused = await store.count([account], windowMs);
    if (refused.allowed) return t.fail('over the limit');
    // A server's own clock runs on while the test calls it.
    t.ok(refused.retryAfterMs <= 40_000 && refused.retryAfterMs > 39_000, `${refused.retryAfterMs} ms`);
    await advance(40_000);
    t.match(await store.count([account], windowMs), { allowed: true });
  });

  t.test(`${name}: a refusal counts against no limit`, async (t) => {
    const { store } = await create(t);
    for (let index = 0; index < 10; index += 1) await store.count([address, account], windowMs);
    const other = { key: 'account:b', points: 3 };
    t.match(await store.count([address, other], windowMs), { allowed: true }, 'three of five were counted');
    t.match(await store.count([address, other], windowMs), { allowed: true });
    t.match(await store.count([address, other], windowMs), { allowed: false });
    await store.giveBack([account], windowMs);
    t.match(
      await store.count([account], windowMs),
      { allowed: true },
      'the full limit had no more than its points',
    );
  });

  t.test(`${name}: a success gives the attempt back`, async (t) => {
    const { store } = await create(t);
    for (let index = 0; index < 10; index += 1) {
      t.match(await store.count([account, address], windowMs), { allowed: true });
      await store.giveBack([account, address], windowMs);
    }
  });

  t.test(`${name}: giving back after the window earns no credit`, async (t) => {
    const { store, advance } = await create(t);
    await store.count([account], windowMs);
    await advance(windowMs);
    for (let index = 0; index < 3; index += 1) await store.giveBack([account], windowMs);
    const responses = [];
    for (let index = 0; index < 4; index += 1)
      responses.push((await store.count([account], windowMs)).allowed);
    t.strictSame(responses, [true, true, true, false]);
  });

  t.test(`${name}: processes count together, and give back what another counted`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    for (const each of [store, second, store])
      t.match(await each.count([address, account], windowMs), { allowed: true });
    for (const each of [store, second])
      t.match(await each.count([address, account], windowMs), { allowed: false });
    await second.giveBack([address, account], windowMs);
    t.match(await store.count([address, account], windowMs), { allowed: true });
    t.match(await second.count([account], windowMs), { allowed: false });
  });

  t.test(`${name}: parallel attempts don't slip through together`, async (t) => {
    const { store } = await create(t);
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => store.count([address, account], windowMs)),
    );
    t.equal(responses.filter(({ allowed }) => allowed).length, 3);
  });

  t.test(`${name}: the counters of a group are found and lifted together`, async (t) => {
    const { store, openSecond, advance } = await create(t);
    const second = await openSecond();
    const [group, other] = [
      { key: 'all', points: 9, group: 'g' },
      { key: 'all', points: 9, group: 'g0' },
    ];
    const pair = { ...group, key: 'pair:2001:db8:1:2::/64' };
    const found = async () => (await second.findAttempts('g')).map(({ key, count }) => [key, count]).sort();
    t.strictSame(await found(), []);
    await store.count([address, pair, group], windowMs);
    await advance(40_000);
    await store.count([other, group], windowMs);
    t.strictSame(await found(), [
      ['all', 2],
      ['pair:2001:db8:1:2::/64', 1],
    ]);
    for (const { remainingMs } of await store.findAttempts('g'))
      t.ok(remainingMs <= 20_000 && remainingMs > 19_000, `${remainingMs} ms`);
    await store.giveBack([pair], windowMs);
    t.strictSame(await found(), [['all', 2]]);
    await advance(20_000);
    t.strictSame(await found(), [], 'their windows have ended');
    await store.count([pair, group], windowMs);
    await second.liftAttempts('g');
    await store.giveBack([pair, group], windowMs);
    t.strictSame(await found(), [], 'giving back what was lifted earns no credit');
    t.strictSame(
      (await store.findAttempts('g0')).map(({ count }) => count),
      [1],
    );
    for (let index = 0; index < 9; index += 1)
      t.match(await store.count([group], windowMs), { allowed: true });
    t.match(await store.count([group], windowMs), { allowed: false });
    await store.liftAttempts('g');
    t.match(await store.count([group], windowMs), { allowed: true });
  });
}
