import t from 'tap';
import { Audit, type ChangeEvent } from '../../src/administration/audit.ts';
import { automatic, operator } from '../../src/administration/caller.ts';
import type { AuditEntry } from '../../src/log/log.ts';
import type { AuditDraft } from '../../src/stores/audit.ts';

function setUp(isForGateways?: boolean) {
  const steps: [string, AuditDraft][] = [];
  const audit = new Audit({
    log: { audit: (entry) => void steps.push(['logged', entry]) },
    keep: (event) => void steps.push(['kept', event]),
    isForGateways,
    now: () => 42,
  });
  return { audit, steps };
}

t.test('an event of a change gets its author, outcome and target, and is logged once written', async (t) => {
  const { audit, steps } = setUp(true);
  const events: readonly ChangeEvent[] = [
    { event: 'user_disabled', subject: 'u' },
    { event: 'login_succeeded', subject: 'u', session: 's' },
    { event: 'all_sessions_ended', subject: null },
    { event: 'api_key_deleted', subject: 'u', target: { type: 'api_key', id: 'k' } },
  ];
  const { drafts, onWritten, isForGateways } = audit.withChange(operator, () => events);
  const written = drafts(undefined);
  t.strictSame(steps, [], 'nothing is logged before the commit');
  t.strictSame(
    written.map(({ target }) => target),
    [{ type: 'user', id: 'u' }, { type: 'session', id: 's' }, null, { type: 'api_key', id: 'k' }],
  );
  for (const draft of written)
    t.match(draft, { outcome: 'success', actor: { kind: 'command_line' }, address: null, requestId: null });
  onWritten(written as readonly AuditEntry[]);
  t.strictSame(
    steps.map(([step, { event }]) => [step, event]),
    events.map(({ event }) => ['logged', event]),
  );
  t.equal(isForGateways, true);
});

t.test('an end of access is logged before it is kept, under the same id', async (t) => {
  const { audit, steps } = setUp();
  audit.record(automatic, { event: 'session_revoked', subject: 'u', session: 's' });
  const [logged, kept] = steps;
  t.match(logged, ['logged', { time: 42, actor: { kind: 'system' }, target: { type: 'session', id: 's' } }]);
  t.strictSame(kept, ['kept', logged![1]]);
  t.type(kept![1].id, 'string');
});

t.test('a refusal, whose kind is counted, is logged alone', async (t) => {
  const { audit, steps } = setUp();
  audit.record(automatic, { event: 'login_failed', outcome: 'failure', subject: null });
  t.match(steps, [['logged', { event: 'login_failed', outcome: 'failure', target: null }]]);
  t.equal(steps.length, 1);
});
