import t from 'tap';
import { Disturbances } from '../model/promises/disturbances.ts';
import { Endings } from '../model/promises/endings.ts';
import { Register } from '../model/promises/register.ts';

const atOnce = (at: number) => () => at;

t.test(
  'a value is possible until its successor was acknowledged, and from when that was asked for',
  async (t) => {
    const register = new Register('first', 0, 10);
    const write = register.begin('second', 100);
    t.strictSame(register.possible(50, 99), ['first'], 'before it was asked for');
    t.strictSame(register.possible(150, 160), ['first', 'second'], 'while it is on its way');
    write.acknowledge(200);
    t.strictSame(register.possible(150, 250), ['first', 'second'], 'a reading that began before');
    t.strictSame(register.possible(200, 250), ['second'], 'one that began afterwards');
  },
);

t.test('either of two writes at once may be the last', async (t) => {
  const register = new Register('first', 0, 10);
  const one = register.begin('one', 100);
  const other = register.begin('other', 150);
  one.acknowledge(200);
  other.acknowledge(220);
  t.strictSame(register.possible(300, 310).toSorted(), ['one', 'other']);
});

t.test('a write without a known outcome may or may not have happened', async (t) => {
  const register = new Register('first', 0, 10);
  const lost = register.begin('lost', 100);
  lost.lose(atOnce(500));
  t.strictSame(register.possible(400, 410).toSorted(), ['first', 'lost']);
  t.strictSame(
    register.possible(900, 910).toSorted(),
    ['first', 'lost'],
    'nothing has said which, ever since',
  );
  register.begin('early', 300).acknowledge(310);
  t.strictSame(register.possible(900, 910).toSorted(), ['early', 'lost'], 'it may have come after that one');
  register.begin('late', 600).acknowledge(610);
  t.strictSame(register.possible(900, 910), ['late'], 'this one came after both');
});

t.test('a refused write was never there', async (t) => {
  const register = new Register('first', 0, 10);
  register.begin('refused', 100).refuse();
  t.strictSame(register.possible(50, 200), ['first']);
});

t.test('only an acknowledged end that began afterwards is certain', async (t) => {
  const endings = new Endings();
  const lost = endings.begin('lost', 100);
  lost.lose(atOnce(300));
  t.equal(endings.hasEnded(1_000, 0), false, 'the outcome of that one is unknown');
  t.equal(endings.mayHaveEnded(150, 0), true);
  t.equal(endings.mayHaveEnded(99, 0), false, 'it had not begun');
  t.equal(endings.mayHaveEnded(1_000, 301), false, 'what was made later is not touched by it');
  const done = endings.begin('done', 400);
  done.acknowledge(420);
  t.equal(endings.hasEnded(419, 0), false, 'not before it was acknowledged');
  t.equal(endings.hasEnded(420, 0), true);
  t.equal(endings.hasEnded(420, 410), false, 'what was made while it was on its way may live on');
});

t.test('an end that spares one spares only that one', async (t) => {
  const endings = new Endings();
  const spared = {};
  endings.begin('all others', 100, spared).acknowledge(110);
  t.equal(endings.hasEnded(200, 0, spared), false);
  t.equal(endings.mayHaveEnded(200, 0, spared), false);
  t.equal(endings.hasEnded(200, 0, {}), true);
});

t.test('an end that a store may have lost is never certain', async (t) => {
  const endings = new Endings();
  let isKept = true;
  endings.begin('signed out', 100, undefined, () => isKept).acknowledge(110);
  t.equal(endings.hasEnded(200, 0), true);
  isKept = false;
  t.equal(endings.hasEnded(200, 0), false, 'the master failed over right after it');
  t.equal(endings.mayHaveEnded(200, 0), true);
});

t.test('a store that comes and goes is away since it first went', async (t) => {
  const disturbances = new Disturbances();
  disturbances.begin('first', ['sessions'], 1_000).to = 2_000;
  disturbances.begin('second', ['sessions'], 3_500).to = 4_000;
  t.equal(disturbances.awaySince(['sessions'], 999), undefined);
  t.equal(disturbances.awaySince(['sessions'], 3_900), 1_000, 'it was still coming back from the first');
  t.equal(disturbances.awaySince(['sessions'], 6_001), undefined, 'two seconds after its return all is well');
  t.equal(disturbances.awaySince(['records'], 1_500), undefined, 'the other store was there');
});

t.test('a write lost in a fault is settled some time after it', async (t) => {
  const disturbances = new Disturbances();
  const fault = disturbances.begin('paused', ['records'], 1_000);
  t.equal(disturbances.settledAfter(1_500), Number.POSITIVE_INFINITY, 'a commit may wait in a socket');
  fault.to = 5_000;
  t.equal(disturbances.settledAfter(1_500), 8_000);
  t.equal(disturbances.settledAfter(20_000), 23_000);
});
