import t from 'tap';
import {
  decideRotation,
  initialRotation,
  type RotationState,
  sessionTime,
  setBack,
} from '../../src/stores/session-rotation.ts';

const graceMs = 10;
/** It replaced 3, as the response with 4 was lost. */
const confirmed: RotationState = { generation: 5, previous: 3, issued: 100, presented: 103 };
const unconfirmed: RotationState = { generation: 5, previous: 3, issued: 100, presented: null };

const current = (state: RotationState) => ({ outcome: 'current', state, rotated: false });
const rotated = (previous: number, issued: number, generation = 6) => ({
  outcome: 'current',
  state: { generation, previous, issued, presented: null },
  rotated: true,
});
const reused = { outcome: 'reused' };
const gone = { outcome: 'gone' };

const rows: [string, RotationState, offered: number, now: number, expected: object][] = [
  ['the first presentation confirms', unconfirmed, 5, 104, current({ ...unconfirmed, presented: 104 })],
  [
    'a late first presentation only confirms',
    unconfirmed,
    5,
    999,
    current({ ...unconfirmed, presented: 999 }),
  ],
  ['a second one within the grace period changes nothing', confirmed, 5, 112, current(confirmed)],
  ['one at the end of the grace period rotates', confirmed, 5, 113, rotated(5, 113)],
  ['a sign-in counts as presented', initialRotation(100), 1, 109, current(initialRotation(100))],
  ['a sign-in rotates after the grace period', initialRotation(100), 1, 110, rotated(1, 110, 2)],
  ['the previous one is accepted while the current one is unseen', unconfirmed, 3, 109, current(unconfirmed)],
  ['after the grace period it gets another successor', unconfirmed, 3, 110, rotated(3, 110)],
  ['however late', unconfirmed, 3, 9_999, rotated(3, 9_999)],
  ['the previous one is accepted within the grace period', confirmed, 3, 112, current(confirmed)],
  ['the previous one after the grace period is reuse', confirmed, 3, 113, reused],
  ['the one that never arrived is reuse', unconfirmed, 4, 104, reused],
  ['it is reuse once the current one is seen, too', confirmed, 4, 104, reused],
  ['an older one is reuse within the grace period, too', confirmed, 2, 104, reused],
  ['an older one is reuse before the current one is seen', unconfirmed, 2, 104, reused],
  [
    'a newer one becomes current, and the one before it the previous',
    confirmed,
    9,
    104,
    current({ generation: 9, previous: 8, issued: 104, presented: 104 }),
  ],
  ['a sign-in has no previous one', initialRotation(100), 0, 104, gone],
  ['a negative generation is invalid', confirmed, -1, 104, gone],
  ['a fraction is invalid', confirmed, 4.5, 104, gone],
  ['an unsafe integer is invalid', confirmed, 2 ** 53, 104, gone],
  ['not a number is invalid', confirmed, Number.NaN, 104, gone],
];

for (const [name, state, offered, now, expected] of rows) {
  t.test(name, async (t) => {
    t.strictSame(decideRotation(state, offered, now, graceMs), expected);
  });
}

const hourMs = 3_600_000;
const times: [string, now: number, unbroken: number, lastUsed: number, at: number, setBackMs: number][] = [
  ['the time is the store’s', 100, 100, 90, 100, 0],
  [
    'a clock that was set back goes on as if it had not been',
    1_000,
    hourMs + 1_000,
    hourMs,
    hourMs + 1_000,
    hourMs,
  ],
  ['a session used since then goes by the new time', 1_000, hourMs + 1_000, 900, 1_000, 0],
  ['a clock that is a little behind stands still', 8_500, 8_500, 10_000, 10_000, 0],
  ['also where an earlier step is remembered', 8_500, hourMs, 10_000, 10_000, 0],
  [
    'one that was behind before anyone watched is past the grace',
    0,
    0,
    hourMs,
    hourMs + graceMs,
    hourMs + graceMs,
  ],
];

for (const [name, now, unbroken, lastUsed, at, setBackMs] of times)
  t.test(name, async (t) => {
    t.strictSame(sessionTime({ now, unbroken }, lastUsed, graceMs), { at, setBackMs });
  });

t.test('a state set back keeps its ages', async (t) => {
  t.strictSame(setBack(confirmed, 50), { ...confirmed, issued: 50, presented: 53 });
  t.strictSame(setBack(unconfirmed, 50), { ...unconfirmed, issued: 50 });
});
