import t from 'tap';
import { createWorkQueue } from '../../src/credentials/work-queue.ts';

/** Work that ends when it is told to. */
function heldWork() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let started = false;
  const work = () => {
    started = true;
    return promise;
  };
  return { work, resolve, reject, hasStarted: () => started };
}

t.test('concurrency is bounded, and tasks run in order', async (t) => {
  const queue = createWorkQueue({ concurrency: 2, queue: 2 });
  const pieces = [heldWork(), heldWork(), heldWork(), heldWork()] as const;
  const results = pieces.map((piece) => queue.run(piece.work));
  const started = () => pieces.map((piece) => piece.hasStarted());
  t.strictSame(started(), [true, true, false, false]);
  t.strictSame(queue.load(), { running: 2, waiting: 2 });
  await t.rejects(
    queue.run(async () => 'never'),
    { code: 'overloaded', status: 503 },
  );
  pieces[1].resolve('b');
  t.equal(await results[1], 'b');
  t.strictSame(started(), [true, true, true, false]);
  pieces[0].resolve('a');
  pieces[2].resolve('c');
  pieces[3].resolve('d');
  t.strictSame(await Promise.all(results), ['a', 'b', 'c', 'd']);
  t.strictSame(queue.load(), { running: 0, waiting: 0 });
});

t.test('a failed task frees its slot', async (t) => {
  const queue = createWorkQueue({ concurrency: 1, queue: 1 });
  const bad = heldWork();
  const first = queue.run(bad.work);
  const second = queue.run(async () => 'fine');
  bad.reject(new Error('broken'));
  await t.rejects(first, /broken/);
  t.equal(await second, 'fine');
  t.strictSame(queue.load(), { running: 0, waiting: 0 });
});

t.test('a slot that is handed on is not taken by another task in between', async (t) => {
  const queue = createWorkQueue({ concurrency: 1, queue: 1 });
  const [first, second] = [heldWork(), heldWork()];
  const one = queue.run(first.work);
  const two = queue.run(second.work);
  first.resolve('a');
  await one;
  t.strictSame(queue.load(), { running: 1, waiting: 0 });
  const three = queue.run(async () => 'c');
  await t.rejects(
    queue.run(async () => 'd'),
    { code: 'overloaded' },
  );
  second.resolve('b');
  t.strictSame(await Promise.all([two, three]), ['b', 'c']);
});
