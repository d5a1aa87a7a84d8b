import { uuidv7 } from 'uuidv7';
import type { AuditEntry } from '../../log/log.ts';
import type { AuditOf } from '../audit.ts';
import type { SqlDatabase } from './database.ts';
import { noteChange, run, type Steps } from './steps.ts';

/** Takes the next event numbers, and a time that never goes back. The row is locked until the commit, which sets their order. */
const takeNumbers = `UPDATE audit_state SET seq = seq + ?, time = CASE WHEN time > ? THEN time ELSE ? END
  RETURNING seq, time`;
const insertEvent = `INSERT INTO audit (seq, id, time, event, outcome, actor_kind, actor_user, actor_credential,
    target_type, target_id, address, request_id, is_probe, body)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
const insertCommandEvent = 'INSERT INTO command_events (id, entry) VALUES (?, ?)';

/** Steps that number, date and keep the audit events of a change; `now` is epoch ms. Returns the entries as kept. */
export function* keepAudit<T>(audit: AuditOf<T>, result: T, now: number): Steps<readonly AuditEntry[]> {
  const drafts = audit.drafts(result);
  if (drafts.length === 0) return [];
  const [taken] = yield* run<{ readonly seq: number; readonly time: number }>(
    takeNumbers,
    drafts.length,
    now,
    now,
  );
  const { seq, time } = taken!;
  const entries = drafts.map((draft): AuditEntry => ({ ...draft, id: draft.id ?? uuidv7(), time }));
  for (const [index, entry] of entries.entries())
    yield* insert(seq - entries.length + 1 + index, time, entry);
  if (audit.isForGateways) yield* leaveForGateways(entries);
  return entries;
}

/**
 * Leaves entries for gateways to log, in a table of their own. One gateway takes and logs each of them, even if the audit has
 * already dropped the event by then; the audit keeps its own copy.
 */
function* leaveForGateways(entries: readonly AuditEntry[]): Steps<void> {
  for (const entry of entries) yield* run(insertCommandEvent, uuidv7(), JSON.stringify(entry));
  yield* noteChange({ hasCommandEvents: true });
}

function* insert(seq: number, time: number, entry: AuditEntry): Steps<void> {
  const { event, outcome, actor, target, address, requestId, changes, reason, userAgent, repeated } = entry;
  yield* run(
    insertEvent,
    ...[seq, entry.id!, time, event, outcome, actor.kind, actor.user, actor.session ?? actor.key ?? null],
    ...[target?.type ?? null, target?.id ?? null, address, requestId, repeated === undefined ? 0 : 1],
    JSON.stringify({ changes, reason, userAgent, repeated, label: target?.label }),
  );
}

/** The audit lines of a change that may find nothing to change: none when its result is undefined. */
export function whereFound<T>({ drafts, ...audit }: AuditOf<T>): AuditOf<T | undefined> {
  return { ...audit, drafts: (result) => (result === undefined ? [] : drafts(result)) };
}

/** Makes a change and keeps its audit events in one transaction: both, or neither. */
export async function writeAudited<T>(
  database: SqlDatabase,
  now: () => number,
  steps: () => Steps<T>,
  audit: AuditOf<T> | undefined,
): Promise<T> {
  if (audit === undefined) return database.write(steps);
  let entries: readonly AuditEntry[] = [];
  const result = await database.write(function* () {
    const made = yield* steps();
    entries = yield* keepAudit(audit, made, now());
    return made;
  });
  audit.onWritten(entries);
  return result;
}
