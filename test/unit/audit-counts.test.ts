import t from 'tap';
import { Refusal } from '../../src/errors.ts';
import type { AuditEntry } from '../../src/log/log.ts';
import { MetricsRegistry } from '../../src/metrics/registry.ts';
import { addAuditCounts, countAudited } from '../../src/runtime/audit-counts.ts';
import type { AuditOf } from '../../src/stores/audit.ts';
import type { Records } from '../../src/stores/records.ts';

const draft = { event: 'user_changed' } as AuditEntry;

/** Records whose changes write their audit, or fail with `error`. */
function createCounted(error: Error | null = null) {
  const write = async (audit: AuditOf<void>) => {
    if (error !== null) throw error;
    audit.onWritten(audit.drafts());
  };
  const user = { id: 'u' };
  const records = {
    activate: (_user: unknown, _name: string, audit?: AuditOf<void>) =>
      audit ? write(audit) : Promise.resolve(),
    changeUserRecord: (_id: string, { audit }: { audit: AuditOf<void> }) => write(audit),
    findUser: () => user,
  };
  const counts = addAuditCounts(new MetricsRegistry());
  const written: AuditEntry[] = [];
  const audit: AuditOf<unknown> = {
    drafts: () => [draft, draft],
    onWritten: (entries) => written.push(...entries),
  };
  return { counted: countAudited(records as unknown as Records, counts), counts, written, audit, user };
}

t.test('an event written with a change is counted, and handed on', async (t) => {
  const { counted, counts, written, audit, user } = createCounted();
  await counted.activate(user as never, 'ada', audit);
  await counted.changeUserRecord('u', { audit } as never);
  await counted.activate(user as never, 'ada');
  t.equal(counted.findUser('u'), user, 'a read is passed on');
  t.strictSame({ ...counts }, { written: 4, refused: 0, lost: 0 });
  t.equal(written.length, 4);
});

t.test('a change that the store can not take is refused, with its events', async (t) => {
  const { counted, counts, audit } = createCounted(new Refusal('store_unavailable'));
  await t.rejects(counted.changeUserRecord('u', { audit } as never), { code: 'store_unavailable' });
  t.strictSame({ ...counts }, { written: 0, refused: 1, lost: 0 });
  const conflicting = createCounted(new Refusal('conflict'));
  await t.rejects(conflicting.counted.activate({} as never, 'ada', conflicting.audit), {
    code: 'conflict',
  });
  t.strictSame({ ...conflicting.counts }, { written: 0, refused: 0, lost: 0 });
});
