import fc from 'fast-check';
import t from 'tap';
import { createAddressThrottle, createLoginThrottle } from '../../src/credentials/throttle.ts';
import type { AttemptLimit, Attempts } from '../../src/stores/attempts.ts';

/** Counters without an end of their window, that say what they were asked. */
function createCounters() {
  const counts = new Map<string, number>();
  const add = (key: string, change: number) => counts.set(key, (counts.get(key) ?? 0) + change);
  const asked: AttemptLimit[][] = [];
  const nameOf = ({ group = '', key }: AttemptLimit) => `${group}/${key}`;
  const attempts: Attempts = {
    async count(limits) {
      asked.push([...limits]);
      if (limits.some((limit) => (counts.get(nameOf(limit)) ?? 0) >= limit.points)) {
        return { allowed: false, retryAfterMs: 1_001 };
      }
      for (const limit of limits) add(nameOf(limit), 1);
      return { allowed: true };
    },
    async giveBack(limits) {
      for (const limit of limits) add(nameOf(limit), -1);
    },
    async findAttempts(group) {
      return [...counts]
        .filter(([name]) => name.startsWith(`${group}/`))
        .map(([name, count]) => ({ key: name.slice(group.length + 1), count, remainingMs: 1_000 }));
    },
    async liftAttempts(group) {
      for (const name of [...counts.keys()]) if (name.startsWith(`${group}/`)) counts.delete(name);
    },
  };
  return { attempts, asked, counts };
}

const limits = { perAccountAndAddress: 2, perAccount: 4, perAddress: 3, windowMs: 60_000 };
const tooMany = { name: 'Refusal', code: 'too_many_attempts', options: { retryAfterSeconds: 2 } };

t.test('the pair fills up first, then the address', async (t) => {
  const throttle = createLoginThrottle(createCounters().attempts, limits);
  await throttle.attempt('ada', '192.0.2.1');
  await throttle.attempt('ada', '192.0.2.1');
  await t.rejects(throttle.attempt('ada', '192.0.2.1'), tooMany);
  await throttle.attempt('bob', '192.0.2.1');
  await t.rejects(throttle.attempt('eve', '192.0.2.1'), tooMany, 'the address is full');
  await t.resolves(throttle.attempt('ada', '192.0.2.2'), 'the owner elsewhere still gets in');
});

t.test('the account fills up over many addresses', async (t) => {
  const throttle = createLoginThrottle(createCounters().attempts, limits);
  for (const last of [1, 2, 3, 4]) await throttle.attempt('ada', `192.0.2.${last}`);
  await t.rejects(throttle.attempt('ada', '192.0.2.5'), tooMany);
  await t.resolves(throttle.attempt('bob', '192.0.2.5'));
});

t.test('limits are asked in the order address, pair, account', async (t) => {
  const { attempts, asked } = createCounters();
  await createLoginThrottle(attempts, limits).attempt('ada', '192.0.2.1');
  t.match(asked[0], [
    { key: 'login:address:192.0.2.1', points: 3 },
    { group: /^login:name:[\w-]{43}$/, key: 'pair:192.0.2.1', points: 2 },
    { group: /^login:name:[\w-]{43}$/, key: 'account', points: 4 },
  ]);
});

t.test('the state of an account counts its failures from all addresses, until it is lifted', async (t) => {
  const throttle = createLoginThrottle(createCounters().attempts, limits);
  t.strictSame(await throttle.stateOf('ada'), { failures: 0, remainingMs: null, isRefusing: false });
  await throttle.attempt('ada', '192.0.2.1');
  await throttle.attempt('ada', '192.0.2.2');
  t.strictSame(await throttle.stateOf('ada'), { failures: 2, remainingMs: 1_000, isRefusing: false });
  await throttle.attempt('ada', '192.0.2.1');
  t.match(await throttle.stateOf('ada'), { failures: 3, isRefusing: true }, 'from that address');
  await throttle.attempt('bob', '192.0.2.3');
  await throttle.lift('ada');
  t.strictSame(await throttle.stateOf('ada'), { failures: 0, remainingMs: null, isRefusing: false });
  t.match(await throttle.stateOf('bob'), { failures: 1 });
  await t.rejects(
    throttle.attempt('eve', '192.0.2.1').then(() => throttle.attempt('eve', '192.0.2.1')),
    tooMany,
  );
});

t.test('a success gives its attempt back, once', async (t) => {
  const { attempts, counts } = createCounters();
  const throttle = createLoginThrottle(attempts, limits);
  await throttle.attempt('ada', '192.0.2.1');
  const counted = await throttle.attempt('ada', '192.0.2.1');
  await counted.giveBack();
  await counted.giveBack();
  t.strictSame([...counts.values()], [1, 1, 1]);
});

t.test('no name or address makes a long key, or a key of another kind', async () => {
  const { attempts, asked } = createCounters();
  const throttle = createLoginThrottle(attempts, limits);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 5_000 }), fc.string(), async (name, address) => {
      await throttle.attempt(name, address).catch(() => {});
      for (const { group, key } of asked.splice(0).flat()) {
        const name = group === undefined ? key : `${group}/${key}`;
        if (name.length > 110 || !/^login:(?:address|name):[\w.:/-]+$/.test(name)) throw new Error(name);
      }
    }),
    { numRuns: 100 },
  );
});

const addresses: Record<string, [address: string, key: string]> = {
  'IPv4 as it is': ['192.0.2.1', '192.0.2.1'],
  'IPv4 mapped into IPv6': ['::ffff:192.0.2.1', '192.0.2.1'],
  'the same in hexadecimal': ['::ffff:c000:201', '192.0.2.1'],
  'IPv6 by its /64': ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  'another host of it': ['2001:DB8:1:2::ffff', '2001:db8:1:2::/64'],
  'the next /64': ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  'the loopback': ['::1', '0:0:0:0::/64'],
  'a zone does not make another address': ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  'no address, as over a unix socket': ['', 'unknown'],
  'no address at all': ['nonsense', 'unknown'],
};
for (const [name, [address, key]] of Object.entries(addresses)) {
  t.test(`address: ${name}`, async (t) => {
    const { attempts, asked } = createCounters();
    await createAddressThrottle('bootstrap', attempts, { perAddress: 3, windowMs: 1 }).attempt(address);
    t.strictSame(asked, [[{ key: `bootstrap:address:${key}`, points: 3 }]]);
  });
}

t.test('bootstrap attempts fill up by address, apart from sign-ins', async (t) => {
  const { attempts } = createCounters();
  const throttle = createAddressThrottle('bootstrap', attempts, { perAddress: 1, windowMs: 60_000 });
  const counted = await throttle.attempt('192.0.2.1');
  await t.rejects(throttle.attempt('192.0.2.1'), tooMany);
  await t.resolves(createLoginThrottle(attempts, limits).attempt('ada', '192.0.2.1'));
  await counted.giveBack();
  await t.resolves(throttle.attempt('192.0.2.1'));
});

t.test('a wait of under a second is reported as one second', async (t) => {
  const attempts = {
    ...createCounters().attempts,
    count: async () => ({ allowed: false, retryAfterMs: 0 }) as const,
  };
  const throttle = createAddressThrottle('bootstrap', attempts, { perAddress: 1, windowMs: 1 });
  await t.rejects(throttle.attempt('192.0.2.1'), { ...tooMany, options: { retryAfterSeconds: 1 } });
});
