import type { Actor } from '../../log/log.ts';
import type { AuditEvent, AuditFilterField, AuditPage, AuditQuery, AuditRecords } from '../audit.ts';
import type { FieldFilter, ListQuery } from '../list-query.ts';
import type { Records } from '../records.ts';
import { writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import { createList, type FilterColumn, fieldConditions } from './list.ts';
import { first, run, type Steps } from './steps.ts';

interface AuditRow
  extends Pick<AuditEvent, 'seq' | 'id' | 'time' | 'event' | 'outcome' | 'address' | 'requestId'> {
  readonly actorKind: Actor['kind'];
  readonly actorUser: string | null;
  readonly actorCredential: string | null;
  readonly targetType: string | null;
  readonly targetId: string | null;
  readonly body: string;
}

const select = `SELECT a.seq, a.id, a.time, a.event, a.outcome, a.address, a.request_id AS "requestId",
    a.actor_kind AS "actorKind", a.actor_user AS "actorUser", a.actor_credential AS "actorCredential",
    a.target_type AS "targetType", a.target_id AS "targetId", a.body
  FROM audit a`;
const selectState = 'SELECT seq AS last, dropped FROM audit_state';
const countProbes = 'SELECT count(*) AS total FROM audit WHERE is_probe = 1';
const noteDropped = 'UPDATE audit_state SET dropped = ? WHERE dropped < ?';
const oldEvents = 'SELECT seq FROM audit WHERE time < ? ORDER BY time, seq LIMIT ?';
const oldestEvents = 'SELECT seq FROM audit ORDER BY seq LIMIT ?';
const oldestProbes = 'SELECT seq FROM audit WHERE is_probe = 1 ORDER BY seq LIMIT ?';
const selectCommandEvent = 'SELECT id FROM command_events LIMIT 1';
const takeCommandEvents = 'DELETE FROM command_events RETURNING id, entry';
const selectOfCredential = 'SELECT seq FROM audit WHERE actor_credential = ? LIMIT 1';

type ColumnField = Exclude<AuditFilterField, 'actor'> | 'actor_user' | 'actor_credential';

const columns: Readonly<Record<ColumnField, FilterColumn>> = {
  event: { column: 'a.event' },
  outcome: { column: 'a.outcome' },
  actor_user: { column: 'a.actor_user' },
  actor_credential: { column: 'a.actor_credential' },
  target: { column: 'a.target_id' },
  address: { column: 'a.address' },
  request_id: { column: 'a.request_id' },
  time: { column: 'a.time' },
};

/** A query by columns, each of which has an index in the order of the list. */
type ColumnQuery = ListQuery<'time', readonly FieldFilter<ColumnField>[]>;

/**
 * Replaces the filter by actor with one by the column that has the id, which is that of a user or of a credential, never of both.
 * A condition with OR would use neither index: it would read all events, and sort them.
 */
function* byColumns(filters: AuditQuery['filters']): Steps<readonly FieldFilter<ColumnField>[]> {
  const found: FieldFilter<ColumnField>[] = [];
  for (const { field, ...filter } of filters) {
    if (field !== 'actor') found.push({ field, ...filter });
    else {
      const isCredential = (yield* first(selectOfCredential, String(filter.value))) !== undefined;
      found.push({ field: isCredential ? 'actor_credential' : 'actor_user', ...filter });
    }
  }
  return found;
}

/** Maximum number of events dropped in one transaction, which takes a few milliseconds. */
const dropBatch = 500;

/** Audit events in SQL, and the events that commands leave for the log; `now` is the clock, in epoch milliseconds. */
export function createAudit(
  database: SqlDatabase,
  now: () => number,
): AuditRecords & Pick<Records, 'takeCommandEvents'> {
  const { dialect, one, snapshot, write } = database;
  const countEvents = dialect.countRows('audit');
  const list = createList<ColumnQuery, AuditRow, AuditEvent>(dialect, {
    from: 'audit a',
    select,
    countAll: countEvents,
    id: 'a.id',
    row: 'a.id',
    order: { time: { column: 'a.seq' } },
    conditions: ({ filters }) => fieldConditions(dialect, columns, filters),
    toItem: toEvent,
  });

  function* page(query: AuditQuery): Steps<AuditPage> {
    const state = yield* first<Pick<AuditPage, 'last' | 'dropped'>>(selectState);
    const filters = yield* byColumns(query.filters);
    return { ...(yield* list({ ...query, filters })), ...state! };
  }

  function* drop(chosen: string, values: readonly number[]): Steps<number> {
    const dropped = yield* run<{ readonly seq: number }>(
      `DELETE FROM audit WHERE seq IN (${chosen}) RETURNING seq`,
      ...values,
    );
    const highest = dropped.reduce((most, { seq }) => Math.max(most, seq), 0);
    if (highest > 0) yield* run(noteDropped, highest, highest);
    return dropped.length;
  }

  async function dropOldest(count: string, most: number, oldest: string): Promise<void> {
    const found = await one(count, [], (row: { readonly total: number } | undefined) => row!.total);
    for (let excess = found - most; excess > 0; excess -= dropBatch)
      await write(() => drop(oldest, [Math.min(excess, dropBatch)]));
  }

  return {
    addAuditEvents: (audit) => writeAudited<void>(database, now, function* () {}, audit),
    listAuditEvents: (query) => snapshot(() => page(query)),
    findAuditEvent: (id) =>
      one(`${select} WHERE a.id = ?`, [id], (row: AuditRow | undefined) => row && toEvent(row)),
    async pruneAuditEvents({ since, maxEvents }) {
      while ((await write(() => drop(oldEvents, [since, dropBatch]))) === dropBatch);
      await dropOldest(countProbes, Math.floor(maxEvents / 10), oldestProbes);
      await dropOldest(countEvents, maxEvents, oldestEvents);
    },
    async takeCommandEvents() {
      // Mostly there are none, and a read locks nothing.
      const isAny = await one(selectCommandEvent, [], (row: object | undefined) => row !== undefined);
      if (!isAny) return [];
      const taken = await write(() =>
        run<{ readonly id: string; readonly entry: string }>(takeCommandEvents),
      );
      return taken.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(({ entry }) => entry);
    },
  };
}

function toEvent(row: AuditRow): AuditEvent {
  const { actorKind, actorUser, actorCredential, targetType, targetId, body, ...columns } = row;
  const { changes = null, reason, userAgent, repeated, label } = JSON.parse(body);
  const named = targetType === null ? null : { type: targetType, id: targetId! };
  const target = named !== null && label !== undefined ? { ...named, label } : named;
  const actor = toActor(actorKind, actorUser, actorCredential);
  return { ...columns, actor, target, changes, reason, userAgent, repeated };
}

function toActor(kind: Actor['kind'], user: string | null, credential: string | null): Actor {
  if (credential === null) return { user, kind };
  return kind === 'api_key' ? { user, key: credential, kind } : { user, session: credential, kind };
}
