import t, { type Test } from 'tap';
import { Rotation } from '../model/promises/rotation.ts';

const graceMs = 1_000;

/** A session that signed in at once at 0; cookies are named by their generations. */
function session(): Rotation {
  return new Rotation(graceMs, { from: 0, to: 10, cookie: '1' });
}

/** Presents a cookie and gets that one, and says what is wrong with it. */
function present(rotation: Rotation, presented: number, given: number, from: number, to = from + 10) {
  return rotation.accepted(rotation.begin(presented, from), given, String(given), to);
}

function history(t: Test, rotation: Rotation, steps: readonly [number, number, number][]): void {
  for (const [presented, given, from] of steps)
    t.equal(present(rotation, presented, given, from), null, `${presented} is given ${given} at ${from}`);
}

t.test('an honest life has no problem', async (t) => {
  history(t, session(), [
    [1, 1, 500],
    [1, 2, 1_100],
    [1, 2, 1_200],
    [2, 2, 1_500],
    [1, 2, 2_400],
    [2, 3, 2_600],
    [3, 3, 9_000],
    [3, 4, 10_100],
  ]);
});

t.test('a lost response: the previous cookie is given another successor', async (t) => {
  const rotation = session();
  rotation.begin(1, 1_100).to = 1_200;
  history(t, rotation, [[1, 3, 5_000]]);
});

/** What is played, and what is wrong with its last step. */
const broken: readonly [string, (rotation: Rotation) => readonly (string | null)[], RegExp][] = [
  [
    'an older cookie than the one presented',
    (it) => [present(it, 1, 2, 1_100), present(it, 2, 1, 1_200)],
    /older/,
  ],
  [
    'two successors of one cookie',
    (it) => [present(it, 1, 2, 1_100), it.accepted(it.begin(1, 1_200), 2, 'another', 1_210)],
    /two cookies/,
  ],
  [
    'one successor of two cookies',
    (it) => [present(it, 1, 3, 1_100), present(it, 2, 3, 1_150)],
    /succeeds both/,
  ],
  [
    'a cookie that is neither current nor previous',
    (it) => [
      present(it, 1, 2, 1_100),
      present(it, 2, 2, 1_200),
      present(it, 2, 3, 2_400),
      present(it, 1, 3, 2_500),
    ],
    /it is reuse/,
  ],
  [
    'the previous cookie past its grace',
    (it) => [present(it, 1, 2, 1_100), present(it, 2, 2, 1_200), present(it, 1, 2, 2_300)],
    /it is reuse/,
  ],
  ['a rotation that does not come', (it) => [present(it, 1, 1, 1_100)], /was not rotated/],
  [
    'a rotation before the successor was presented for long enough',
    (it) => [present(it, 1, 2, 1_100), present(it, 2, 2, 4_000), present(it, 2, 3, 4_500)],
    /within its grace/,
  ],
  [
    'a rotation by the first presentation',
    (it) => [present(it, 1, 2, 1_100), present(it, 2, 3, 9_000)],
    /within its grace/,
  ],
];

t.test('the checker finds behaviour that the interface forbids', async (t) => {
  for (const [name, play, problem] of broken) t.match(play(session()).at(-1) ?? 'nothing', problem, name);
});

t.test('a clock that may be wrong excuses what only time forbids', async (t) => {
  const rotation = new Rotation(
    graceMs,
    { from: 0, to: 10, cookie: '1' },
    { clockError: () => ({ aheadMs: 5_000, behindMs: 5_000 }) },
  );
  t.equal(present(rotation, 1, 1, 1_100), null);
  t.equal(present(rotation, 1, 2, 1_200), null);
  t.equal(present(rotation, 2, 2, 1_300), null);
  t.equal(present(rotation, 1, 2, 3_000), null);
  t.match(present(rotation, 2, 1, 3_100), /older/, 'but not what time has no part in');
});

t.test('a refusal is innocent only if no order of the requests makes it reuse', async (t) => {
  const rotation = session();
  t.equal(rotation.isInnocent(1, 5_000), true, 'no other cookie was ever presented');
  present(rotation, 1, 2, 5_000);
  t.equal(rotation.isInnocent(1, 9_000), true, 'its successor was not presented');
  present(rotation, 2, 2, 9_100);
  t.equal(rotation.isInnocent(1, 9_500), true, 'within the grace of its successor');
  t.equal(rotation.isInnocent(1, 10_500), false, 'past it');
  t.equal(rotation.isReuse(1, 10_500), true);
  t.equal(rotation.isInnocent(2, 10_500), true, 'the current one');
  rotation.begin(1, 10_600);
  t.equal(rotation.isInnocent(2, 10_700), false, 'cookie 1 may have been given another successor');
});

t.test('a store that loses writes is judged by nothing that it may have forgotten', async (t) => {
  const rotation = new Rotation(graceMs, { from: 0, to: 10, cookie: '1' }, { isKept: () => false });
  t.equal(present(rotation, 1, 1, 5_000), null);
  t.equal(rotation.isInnocent(1, 6_000), false);
  t.equal(rotation.isReuse(1, 6_000), false);
});
