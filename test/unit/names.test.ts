import t from 'tap';
import { NameError } from '../../src/names/name-error.ts';
import { failureMs, freshMs, maxStaleMs, Names, slowMs, staleAfterMs } from '../../src/names/names.ts';

type Outcome = readonly string[] | NameError;

/** Names over lookups that end when the test says so, by a clock in its hand. */
function namesWith() {
  const lookups: { readonly host: string; readonly end: (outcome: Outcome) => Promise<void> }[] = [];
  const timers: { readonly at: number; readonly run: () => void; isCancelled: boolean }[] = [];
  const events: string[] = [];
  let now = 0;
  const names = new Names({
    resolve: (host) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
      const end = async (outcome: Outcome) => {
        if (outcome instanceof NameError) reject(outcome);
        else resolve(outcome);
        await promise.catch(() => {});
        await Promise.resolve();
      };
      lookups.push({ host, end });
      return promise;
    },
    events: {
      onFailed: (code) => events.push(`failed ${code}`),
      onUnavailable: (host, { earlier }) => events.push(`unavailable ${host} (${earlier})`),
      onAvailable: (host) => events.push(`available ${host}`),
    },
    now: () => now,
    after: (ms, run) => {
      const timer = { at: now + ms, run, isCancelled: false };
      timers.push(timer);
      return () => {
        timer.isCancelled = true;
      };
    },
  });
  const pass = (ms: number) => {
    now += ms;
    for (const timer of timers.splice(0))
      if (timer.at > now) timers.push(timer);
      else if (!timer.isCancelled) timer.run();
  };
  /** What was found so far for one who asks now: null while it waits. */
  const find = (host: string) => {
    const found: { now: string | null } = { now: null };
    const withdraw = names.find(host, (error, addresses) => {
      found.now = (error as NameError | null)?.code ?? addresses.join(' ');
    });
    return Object.assign(found, { withdraw });
  };
  return { lookups, events, pass, find };
}

const unavailable = new NameError('EAI_AGAIN', 'a');
const notFound = new NameError('ENOTFOUND', 'a');

t.test('a name is looked up once at a time, and another one beside it', async (t) => {
  const { lookups, find } = namesWith();
  const found = [find('a'), find('a'), find('b')];
  t.strictSame(
    lookups.map(({ host }) => host),
    ['a', 'b'],
  );
  await lookups[1]!.end(['10.0.0.2']);
  t.strictSame(
    found.map((each) => each.now),
    [null, null, '10.0.0.2'],
    'the one that is silent holds up no other',
  );
  await lookups[0]!.end(['10.0.0.1', '10.0.0.3']);
  t.strictSame(
    found.map((each) => each.now),
    ['10.0.0.1 10.0.0.3', '10.0.0.1 10.0.0.3', '10.0.0.2'],
  );
});

t.test('addresses are used for two seconds, and those that change are seen then', async (t) => {
  const { lookups, find, pass } = namesWith();
  find('a');
  await lookups[0]!.end(['10.0.0.1']);
  pass(freshMs - 1);
  t.equal(find('a').now, '10.0.0.1');
  t.equal(lookups.length, 1);
  pass(1);
  const found = find('a');
  t.equal(found.now, null, 'a lookup that responds is waited for');
  await lookups[1]!.end(['10.0.0.9']);
  t.equal(found.now, '10.0.0.9');
});

t.test('while no name server responds, the earlier addresses are used', async (t) => {
  const { lookups, find, pass, events } = namesWith();
  find('a');
  await lookups[0]!.end(['10.0.0.1']);
  pass(freshMs);
  const found = find('a');
  pass(staleAfterMs);
  t.equal(found.now, '10.0.0.1');
  t.equal(find('a').now, '10.0.0.1', 'the next one doesn’t wait');
  t.equal(lookups.length, 2);
  await lookups[1]!.end(unavailable);
  t.equal(find('a').now, '10.0.0.1');
  t.equal(lookups.length, 2, 'not asked again at once');
  pass(failureMs);
  t.equal(find('a').now, '10.0.0.1', 'nor is the next lookup waited for');
  t.equal(lookups.length, 3);
  await lookups[2]!.end(unavailable);
  t.strictSame(events, ['failed EAI_AGAIN', 'unavailable a (1)', 'failed EAI_AGAIN'], 'said once');
  pass(failureMs);
  find('a');
  await lookups[3]!.end(['10.0.0.2']);
  t.equal(find('a').now, '10.0.0.2');
  t.equal(events.at(-1), 'available a');
  pass(freshMs);
  t.equal(find('a').now, null, 'they respond again, and are waited for');
});

t.test('after a slow response the next lookups are not waited for, until one is quick again', async (t) => {
  const { lookups, find, pass } = namesWith();
  find('a');
  await lookups[0]!.end(['10.0.0.1']);
  pass(freshMs);
  find('a');
  pass(staleAfterMs);
  await lookups[1]!.end(['10.0.0.2']);
  pass(freshMs);
  t.equal(find('a').now, '10.0.0.2');
  await lookups[2]!.end(['10.0.0.3']);
  pass(freshMs);
  t.equal(find('a').now, null);
});

t.test('the name servers are waited for again ten seconds later', async (t) => {
  const { lookups, find, pass } = namesWith();
  find('a');
  await lookups[0]!.end(['10.0.0.1']);
  pass(freshMs);
  const found = find('a');
  pass(staleAfterMs - 1);
  t.equal(found.now, null);
  pass(1);
  t.equal(found.now, '10.0.0.1');
  await lookups[1]!.end(unavailable);
  t.equal(find('a').now, '10.0.0.1');
  pass(slowMs);
  const later = find('a');
  t.equal(later.now, null, 'the name servers may be available again');
  await lookups[2]!.end(['10.0.0.2']);
  t.equal(later.now, '10.0.0.2');
});

t.test('earlier addresses are used for no longer than an hour', async (t) => {
  const { lookups, find, pass, events } = namesWith();
  find('a');
  await lookups[0]!.end(['10.0.0.1']);
  pass(maxStaleMs);
  const found = find('a');
  pass(staleAfterMs);
  t.equal(found.now, null);
  await lookups[1]!.end(unavailable);
  t.equal(found.now, 'EAI_AGAIN');
  t.equal(events.at(-1), 'unavailable a (0)');
});

t.test('a name that no longer exists loses its addresses at once', async (t) => {
  const { lookups, find, pass, events } = namesWith();
  find('a');
  await lookups[0]!.end(['10.0.0.1']);
  pass(freshMs);
  const found = find('a');
  await lookups[1]!.end(notFound);
  t.equal(found.now, 'ENOTFOUND');
  t.equal(find('a').now, 'ENOTFOUND', 'kept for a second');
  t.equal(lookups.length, 2);
  pass(failureMs);
  find('a');
  t.equal(lookups.length, 3);
  t.strictSame(events, ['failed ENOTFOUND']);
});

t.test('a caller that has withdrawn is not called', async (t) => {
  const { lookups, find } = namesWith();
  const found = find('a');
  found.withdraw();
  await lookups[0]!.end(['10.0.0.1']);
  t.equal(found.now, null);
});

t.test('names that nothing asks for are forgotten', async (t) => {
  const { lookups, find } = namesWith();
  for (let i = 0; i <= 1_000; i++) {
    find(`n${i}`);
    await lookups[i]!.end(['10.0.0.1']);
  }
  find('n1000');
  t.equal(lookups.length, 1_001, 'the newest is kept');
  find('n0');
  t.equal(lookups.length, 1_002, 'the oldest is looked up again');
});
