import t from 'tap';
import { decideRotation, initialRotation, type RotationState } from '../../src/stores/session-rotation.ts';

const graceMs = 10;
const confirmed: RotationState = { generation: 5, issued: 100, presented: 103 };
const unconfirmed: RotationState = { generation: 5, issued: 100, presented: null };
const rotatedAt = (now: number): RotationState => ({ generation: 6, issued: now, presented: null });

const current = (state: RotationState, rotated = false) => ({ outcome: 'current', state, rotated });
const reused = { outcome: 'reused' };
const gone = { outcome: 'gone' };

const rows: [string, RotationState, presented: number, now: number, expected: object][] = [
  ['the first presentation confirms', unconfirmed, 5, 104, current({ ...unconfirmed, presented: 104 })],
  [
    'a late first presentation only confirms',
    unconfirmed,
    5,
    999,
    current({ ...unconfirmed, presented: 999 }),
  ],
  ['a second one within the grace changes nothing', confirmed, 5, 112, current(confirmed)],
  ['one at the end of the grace rotates', confirmed, 5, 113, current(rotatedAt(113), true)],
  ['a sign-in counts as presented', initialRotation(100), 1, 109, current(initialRotation(100))],
  [
    'a sign-in rotates after the grace',
    initialRotation(100),
    1,
    110,
    current({ generation: 2, issued: 110, presented: null }, true),
  ],
  ['the previous one is answered until the current is seen', unconfirmed, 4, 9_999, current(unconfirmed)],
  ['the previous one is answered within the grace', confirmed, 4, 112, current(confirmed)],
  ['the previous one after the grace is reuse', confirmed, 4, 113, reused],
  ['an older one is reuse within the grace too', confirmed, 3, 104, reused],
  ['an older one is reuse before the current is seen', unconfirmed, 3, 104, reused],
  ['a newer one becomes current', confirmed, 9, 104, current({ generation: 9, issued: 104, presented: 104 })],
  ['a clock set back rotates nothing', confirmed, 5, 50, current(confirmed)],
  ['a clock set back accuses nobody', confirmed, 4, 50, current(confirmed)],
  ['generation 0 is none', initialRotation(100), 0, 104, gone],
  ['a negative generation is none', confirmed, -1, 104, gone],
  ['a fraction is none', confirmed, 4.5, 104, gone],
  ['an unsafe integer is none', confirmed, 2 ** 53, 104, gone],
  ['not a number is none', confirmed, Number.NaN, 104, gone],
];

for (const [name, state, presented, now, expected] of rows) {
  t.test(name, async (t) => {
    t.strictSame(decideRotation(state, presented, now, graceMs), expected);
  });
}
