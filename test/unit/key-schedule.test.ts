import fc from 'fast-check';
import t from 'tap';
import {
  decideTurn,
  isDue,
  type KeyTimes,
  type KeyTurn,
  type ScheduledKey,
  turnsAt,
} from '../../src/stores/key-schedule.ts';

const nothing: KeyTurn = { needs: null, start: null, retire: [], prolong: [], drop: [] };
const times: KeyTimes = { rotateEveryMs: 10_000, publishAheadMs: 600, lifetimeMs: 100 };
/** How far clocks may be apart. */
const apart = 60_000;

function key(kid: string, state: Partial<ScheduledKey> = {}): ScheduledKey {
  return { kid, created: 0, signsFrom: null, retired: null, requested: null, lifetimeMs: 100, ...state };
}
const signer = (state: Partial<ScheduledKey> = {}) => key('signer', { signsFrom: 0, ...state });
const next = (state: Partial<ScheduledKey> = {}) => key('next', { created: 9_400, ...state });
const retired = (state: Partial<ScheduledKey> = {}) => key('old', { signsFrom: 0, retired: 0, ...state });

interface Row {
  readonly keys: readonly ScheduledKey[];
  readonly now: number;
  readonly times?: Partial<KeyTimes>;
  readonly turn: Partial<KeyTurn>;
}

const rows: Readonly<Record<string, Row>> = {
  "a store's first key signs at once": { keys: [], now: 5, turn: { needs: 'signer' } },
  'where only a retired key is left, a new one signs at once': {
    keys: [retired()],
    now: 5,
    turn: { needs: 'signer' },
  },
  'the next key signs at once where none does': { keys: [next()], now: 9_401, turn: { start: 'next' } },
  'while a key signs, nothing happens': { keys: [signer()], now: 9_399, turn: {} },
  'the next key is published ahead of time': { keys: [signer()], now: 9_400, turn: { needs: 'next' } },
  'the next key waits until the time is over': { keys: [signer(), next()], now: 9_999, turn: {} },
  'the next key takes over': {
    keys: [signer(), next()],
    now: 10_000,
    turn: { start: 'next', retire: ['signer'] },
  },
  'a key that was published late signs late': {
    keys: [signer(), next({ created: 9_500 })],
    now: 10_099,
    turn: {},
  },
  'and then it does': {
    keys: [signer(), next({ created: 9_500 })],
    now: 10_100,
    turn: { start: 'next', retire: ['signer'] },
  },
  'a store that was away for long publishes first': {
    keys: [signer()],
    now: 99_000,
    turn: { needs: 'next' },
  },
  'without rotation a key signs for ever': {
    keys: [signer()],
    now: 1e15,
    times: { rotateEveryMs: null },
    turn: {},
  },
  'without rotation a request publishes the next': {
    keys: [signer({ requested: 50 })],
    now: 50,
    times: { rotateEveryMs: null },
    turn: { needs: 'next' },
  },
  'a request does not shorten the publication': {
    keys: [signer({ requested: 50 }), next({ created: 50 })],
    now: 649,
    turn: {},
  },
  'a request is met as soon as the publication allows': {
    keys: [signer({ requested: 50 }), next({ created: 50 })],
    now: 650,
    turn: { start: 'next', retire: ['signer'] },
  },
  'a request is met at once when the next has been out': {
    keys: [signer({ requested: 10_050 }), next({ created: 9_400 })],
    now: 10_050,
    turn: { start: 'next', retire: ['signer'] },
  },
  'a request never delays what is planned': {
    keys: [signer({ requested: 99_000 }), next()],
    now: 10_000,
    turn: { start: 'next', retire: ['signer'] },
  },
  'of two next keys the one that was published first takes over': {
    keys: [key('later', { created: 9_450 }), next(), signer()],
    now: 10_000,
    turn: { start: 'next', retire: ['signer'] },
  },
  'of two that sign the one that began last counts, and both are retired': {
    keys: [signer(), key('second', { signsFrom: 5_000 }), next({ created: 14_400 })],
    now: 15_000,
    turn: { start: 'next', retire: ['signer', 'second'] },
  },
  'a retired key stays until its last token is dead': {
    keys: [signer({ signsFrom: 10_000 }), retired({ retired: 10_000 })],
    now: 10_000 + 100 + apart - 1,
    times: { rotateEveryMs: null },
    turn: {},
  },
  'and no longer': {
    keys: [signer({ signsFrom: 10_000 }), retired({ retired: 10_000 })],
    now: 10_000 + 100 + apart,
    times: { rotateEveryMs: null },
    turn: { drop: ['old'] },
  },
  'longer lives prolong those of the keys': {
    keys: [signer({ lifetimeMs: 99 }), retired({ lifetimeMs: 99 })],
    now: 1,
    turn: { prolong: ['signer', 'old'] },
  },
  'shorter lives do not shorten them': { keys: [signer({ lifetimeMs: 101 })], now: 1, turn: {} },
  'a dead key is not prolonged': {
    keys: [signer({ signsFrom: 1 }), retired({ lifetimeMs: 99 })],
    now: 99 + apart,
    times: { rotateEveryMs: null },
    turn: { drop: ['old'] },
  },
  'an unused algorithm gets no new key': { keys: [], now: 1, times: { lifetimeMs: null }, turn: {} },
  'an unused algorithm keeps its key, which others may use': {
    keys: [signer(), next()],
    now: 19_999,
    times: { lifetimeMs: null },
    turn: {},
  },
  'an unused algorithm loses its key once nobody rotates it': {
    keys: [signer()],
    now: 20_000,
    times: { lifetimeMs: null },
    turn: { retire: ['signer'] },
  },
  'and in the end it is gone': {
    keys: [retired()],
    now: 100 + apart,
    times: { lifetimeMs: null },
    turn: { drop: ['old'] },
  },
  'without rotation an unused key stays': {
    keys: [signer()],
    now: 1e15,
    times: { lifetimeMs: null, rotateEveryMs: null },
    turn: {},
  },
};

for (const [what, { keys, now, times: changed, turn }] of Object.entries(rows))
  t.test(what, (t) => {
    const wanted = { ...times, ...changed };
    t.strictSame(decideTurn(keys, wanted, now), { ...nothing, ...turn });
    t.strictSame(decideTurn(keys.toReversed(), wanted, now).start, turn.start ?? null, 'in any order');
    t.end();
  });

t.test('the schedule says when the next key will sign', (t) => {
  t.equal(turnsAt([], times, 7), 7);
  t.equal(turnsAt([signer()], times, 7), 10_000);
  t.equal(turnsAt([signer()], times, 9_500), 10_100, 'too late to be published in time');
  t.equal(turnsAt([signer(), next({ created: 9_450 })], times, 9_500), 10_050);
  t.equal(turnsAt([signer({ requested: 1_000 })], times, 1_000), 1_600);
  t.equal(turnsAt([signer()], { ...times, rotateEveryMs: null }, 7), Number.POSITIVE_INFINITY);
  t.end();
});

/** Two keys may be made at the same time. */
let made = 0;

/** Does to keys what a store does, with a new key for each that is needed. */
function applied(keys: readonly ScheduledKey[], turn: KeyTurn, now: number): readonly ScheduledKey[] {
  const kept = keys
    .filter(({ kid }) => !turn.drop.includes(kid))
    .map((each) => ({
      ...each,
      lifetimeMs: turn.prolong.includes(each.kid) ? times.lifetimeMs! : each.lifetimeMs,
      retired: turn.retire.includes(each.kid) ? now : each.retired,
      signsFrom: each.kid === turn.start ? now : each.signsFrom,
    }));
  if (turn.needs === null) return kept;
  const signsFrom = turn.needs === 'signer' ? now : null;
  made++;
  return [key(`${made}, made at ${now}`, { created: now, signsFrom }), ...kept];
}

t.test('at any time one key signs, all were published in time, and none is kept in vain', (t) => {
  const pauses = fc.array(fc.integer({ min: 0, max: 9_000 }), { minLength: 1, maxLength: 80 });
  const requests = fc.array(fc.boolean(), { minLength: 80, maxLength: 80 });
  fc.assert(
    fc.property(pauses, requests, (pauses, requests) => {
      let keys: readonly ScheduledKey[] = [];
      let now = 0;
      for (const [index, pause] of pauses.entries()) {
        now += pause;
        if (requests[index])
          keys = keys.map((each) =>
            each.signsFrom !== null && each.retired === null ? { ...each, requested: now } : each,
          );
        keys = applied(keys, decideTurn(keys, times, now), now);
        const again = decideTurn(keys, times, now);
        if (isDue(again)) throw new Error(`twice at ${now}: ${JSON.stringify(again)}`);
        checkKeys(keys, now);
      }
    }),
  );
  t.end();
});

function checkKeys(keys: readonly ScheduledKey[], now: number): void {
  const signing = keys.filter((each) => each.signsFrom !== null && each.retired === null);
  if (signing.length !== 1) throw new Error(`${signing.length} sign`);
  for (const { kid, created, signsFrom, retired, lifetimeMs } of keys) {
    const isFirst = created === signsFrom;
    if (signsFrom !== null && !isFirst && signsFrom < created + times.publishAheadMs)
      throw new Error(`${kid} signed before it was published for long enough`);
    if (retired !== null && now >= retired + lifetimeMs + apart) throw new Error(`${kid} was kept`);
  }
}
