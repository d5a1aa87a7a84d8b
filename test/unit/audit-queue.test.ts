import t from 'tap';
import { Refusal } from '../../src/errors.ts';
import type { AuditDraft, AuditOf } from '../../src/stores/audit.ts';
import { AuditQueue } from '../../src/stores/audit-queue.ts';
import { eventually } from '../support/eventually.ts';

function draft(id: string): AuditDraft {
  return {
    id,
    event: 'session_revoked',
    outcome: 'success',
    actor: { user: null, kind: 'system' },
    subject: null,
    address: null,
    requestId: null,
  };
}

const drafts = (count: number, name = 'd') =>
  Array.from({ length: count }, (_, index) => draft(`${name}${index}`));

/** A queue over records that reject with `state.error` while there is one. */
function createQueue(t: { teardown(run: () => unknown): unknown }) {
  const state: { error: Error | null } = { error: null };
  const kept: string[] = [];
  const batches: number[] = [];
  const counts = { written: 0, lost: 0, errors: 0 };
  const records = {
    async addAuditEvents(audit: AuditOf<void>) {
      const written = audit.drafts();
      if (state.error !== null) throw state.error;
      batches.push(written.length);
      kept.push(...written.map(({ id }) => id!));
    },
  };
  const queue = new AuditQueue(records, {
    onWritten: (count) => {
      counts.written += count;
    },
    onLost: (count) => {
      counts.lost += count;
    },
    onError: () => {
      counts.errors += 1;
    },
  });
  t.teardown(() => queue.close(0));
  return { queue, kept, batches, counts, state };
}

const unavailable = () => new Refusal('store_unavailable');

t.test('events are written in order, at once, many in one transaction', async (t) => {
  const { queue, kept, batches, counts } = createQueue(t);
  const all = drafts(120);
  for (const one of all) queue.add(one);
  await eventually('an empty queue', () => queue.length === 0 || undefined);
  t.strictSame(
    kept,
    all.map(({ id }) => id),
  );
  t.ok(batches.length < 10, 'not one by one');
  t.strictSame(counts, { written: 120, lost: 0, errors: 0 });
});

t.test('events that an unavailable store does not take wait for it, in order', async (t) => {
  const { queue, kept, counts, state } = createQueue(t);
  state.error = unavailable();
  for (const one of drafts(60)) queue.add(one);
  await eventually('the first attempt', () => queue.length === 60 || undefined);
  t.strictSame(kept, []);
  state.error = null;
  await eventually('an empty queue', () => queue.length === 0 || undefined);
  t.strictSame(
    kept,
    drafts(60).map(({ id }) => id),
  );
  t.strictSame(counts, { written: 60, lost: 0, errors: 0 });
});

t.test('the queue is bounded, refusals get a tenth of it, and a loss is counted', async (t) => {
  const { queue, counts, state } = createQueue(t);
  state.error = unavailable();
  queue.addRefusals(drafts(1_500, 'refused'));
  t.equal(queue.length, 1_000);
  t.equal(counts.lost, 500);
  for (const one of drafts(9_000)) queue.add(one);
  t.equal(queue.length, 10_000);
  t.equal(counts.lost, 500);
  queue.add(draft('one too many'));
  queue.addRefusals(drafts(1));
  t.equal(queue.length, 10_000);
  t.equal(counts.lost, 502);
});

t.test('events that the records can not take are dropped, and those behind them are written', async (t) => {
  const { queue, kept, counts, state } = createQueue(t);
  state.error = new Error('a defect');
  queue.add(draft('bad'));
  await eventually('an empty queue', () => queue.length === 0 || undefined);
  state.error = null;
  queue.add(draft('good'));
  await eventually('an empty queue', () => queue.length === 0 || undefined);
  t.strictSame(kept, ['good']);
  t.strictSame(counts, { written: 1, lost: 1, errors: 1 });
});

t.test('closing writes what waits, and what can not be written is lost', async (t) => {
  const writing = createQueue(t);
  writing.state.error = unavailable();
  writing.queue.add(draft('late'));
  await eventually('the first attempt', () => writing.queue.length === 1 || undefined);
  writing.state.error = null;
  await writing.queue.close(10_000);
  t.strictSame(writing.kept, ['late']);

  const failing = createQueue(t);
  failing.state.error = unavailable();
  for (const one of drafts(3)) failing.queue.add(one);
  await failing.queue.close(10_000);
  t.strictSame(failing.counts, { written: 0, lost: 3, errors: 0 });
  failing.queue.add(draft('after the end'));
  t.equal(failing.counts.lost, 4);
});
