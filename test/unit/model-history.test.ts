import t from 'tap';
import { stepOf } from '../model/clients/script.ts';
import { Disturbances } from '../model/promises/disturbances.ts';
import { describeViolation, History } from '../model/promises/history.ts';

const weights = { often: 9, rarely: 1 };

/** The first steps of a client, with some of the numbers that they go by. */
function steps(seed: number, client: number) {
  return Array.from({ length: 300 }, (_, index) => {
    const { random, ...step } = stepOf(seed, client, index, weights, 3);
    return { ...step, numbers: [random.below(1_000), random.below(1_000)] };
  });
}

t.test('the same seed has the same operations; another seed or client has others', async (t) => {
  t.strictSame(steps(1, 0), steps(1, 0));
  t.notSame(steps(1, 0), steps(2, 0));
  t.notSame(
    steps(1, 0).map(({ numbers }) => numbers),
    steps(1, 1).map(({ numbers }) => numbers),
  );
  const rarely = steps(1, 0).filter(({ name }) => name === 'rarely').length;
  t.ok(rarely > 10 && rarely < 60, `operations come by their weights: ${rarely} of 300`);
  t.strictSame(new Set(steps(1, 0).map(({ gateway }) => gateway)), new Set([0, 1, 2]));
});

t.test('a violation tells the changes of the records concerned, the last reads and the faults', async (t) => {
  const disturbances = new Disturbances();
  const history = new History(disturbances);
  const [session, user, stranger] = [{}, {}, {}];
  const note = (id: string, what: string, about: object[], isChange: boolean, from: number) => {
    const operation = history.begin(about, isChange, { id, what, gateway: 1, from });
    history.end(operation, from + 5, '200');
    return operation;
  };
  note('c9-1', 'patch', [user], true, 300);
  note('c9-2', 'patch', [user], true, 500);
  history.made(session, note('c0-1', 'sign-in', [user], false, 1_000));
  for (let read = 0; read < 9; read++) note(`c1-${read}`, 'token', [session], false, 2_000 + read * 10);
  note('c2-1', 'patch', [user], true, 3_000);
  note('c2-2', 'read', [user], false, 3_100);
  note('c3-1', 'patch', [stranger], true, 3_200);
  disturbances.begin('Redis is paused', ['sessions'], 2_900).to = 3_050;
  history.violated('admitted after its end', 4_000, [session, user]);
  const [violation] = history.violations;
  t.strictSame(
    describeViolation(violation!)
      .split('\n')
      .map((line) => line.trim()),
    [
      'at 4.000 s: admitted after its end',
      '0.500 -    0.505 s  gateway 1  patch: 200  (c9-2)',
      '1.000 -    1.005 s  gateway 1  sign-in: 200  (c0-1)',
      '2.050 -    2.055 s  gateway 1  token: 200  (c1-5)',
      '2.060 -    2.065 s  gateway 1  token: 200  (c1-6)',
      '2.070 -    2.075 s  gateway 1  token: 200  (c1-7)',
      '2.080 -    2.085 s  gateway 1  token: 200  (c1-8)',
      '2.900 -    3.050 s  fault: Redis is paused',
      '3.000 -    3.005 s  gateway 1  patch: 200  (c2-1)',
    ],
  );
});
