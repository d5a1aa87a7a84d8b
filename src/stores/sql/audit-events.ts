import { uuidv7 } from 'uuidv7';
import type { AuditEntry } from '../../log/log.ts';
import type { AuditDraft, AuditOf } from '../audit.ts';
import { leaveForGateways } from './command-events.ts';
import type { SqlDatabase } from './database.ts';
import { run, type Steps } from './steps.ts';

/** The numbers are given under the lock of the row: their order is the order of commits. */
const takeNumbers = `UPDATE audit_state SET seq = seq + ?, time = CASE WHEN time > ? THEN time ELSE ? END
  RETURNING seq, time`;
const insertEvent = `INSERT INTO audit (seq, id, time, event, outcome, actor_kind, actor_user, actor_credential,
    target_type, target_id, address, request_id, is_probe, body)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;

/** Steps that number, date and keep events; `now` is epoch ms. Returns the entries as they are kept. */
export function* addAuditEvents(drafts: readonly AuditDraft[], now: number): Steps<readonly AuditEntry[]> {
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
  return entries;
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

/** The lines of a change that may find nothing to change, and then has none. */
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
    entries = yield* addAuditEvents(audit.drafts(made), now());
    if (audit.isForGateways) yield* leaveForGateways(entries);
    return made;
  });
  audit.onWritten(entries);
  return result;
}
