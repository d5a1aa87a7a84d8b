import type { AuditChanges } from '../log/audit-events.ts';
import type { AuditEntry } from '../log/log.ts';
import type { Awaitable } from './awaitable.ts';
import type { FieldFilter, ListPage, ListQuery } from './list-query.ts';

/** An audit line before it is given a number and a time; one with an `id` is kept once, however often it is written. */
export type AuditDraft = Omit<AuditEntry, 'time'>;

/** An audit line as the records keep it. */
export interface AuditEvent
  extends Pick<
    AuditEntry,
    'outcome' | 'actor' | 'reason' | 'address' | 'userAgent' | 'requestId' | 'repeated'
  > {
  /** Number of the event, ascending in the order of commits. */
  readonly seq: number;
  readonly id: string;
  /** Name of the event: see log/audit-events.ts, of the version that wrote it. */
  readonly event: string;
  /** Epoch ms; never less than that of an earlier event. */
  readonly time: number;
  readonly target: { readonly type: string; readonly id: string; readonly label?: string } | null;
  readonly changes: AuditChanges | null;
}

/** The audit lines of a change: written in its transaction, and passed to `onWritten` once it is committed. */
export interface AuditOf<Result> {
  /** Returns the lines for the result of the change; none if nothing changed. Called again if the transaction is repeated. */
  readonly drafts: (result: Result) => readonly AuditDraft[];
  /** Called after the commit, with as many entries as there were drafts. */
  readonly onWritten: (entries: readonly AuditEntry[]) => void;
  /** True if a gateway on the store has to log the events, too, because a command wrote them; default false. */
  readonly isForGateways?: boolean;
}

/** Query of audit events, in the order of commits. */
export type AuditQuery = ListQuery<'time', readonly FieldFilter<AuditFilterField>[]>;

/** Field that audit events are filtered by; the values for `actor` and `target` are ids. */
export type AuditFilterField = 'event' | 'outcome' | 'actor' | 'target' | 'address' | 'request_id' | 'time';

/** Page of audit events. */
export interface AuditPage extends ListPage<AuditEvent> {
  /** The number of the last event ever written, whatever the filters. */
  readonly last: number;
  /** The highest number of the events that have been dropped; 0: none has. */
  readonly dropped: number;
}

/** The part of the records store for audit events. */
export interface AuditRecords {
  /** Adds events that belong to no change of the records. */
  addAuditEvents(audit: AuditOf<void>): Promise<void>;
  listAuditEvents(query: AuditQuery): Awaitable<AuditPage>;
  findAuditEvent(id: string): Awaitable<AuditEvent | undefined>;
  /**
   * Drops, in small transactions, the events from before `since`, epoch ms, and the oldest beyond `maxEvents`. Of events that
   * count refusals, it keeps at most a tenth of `maxEvents`.
   */
  pruneAuditEvents(limits: { readonly since: number; readonly maxEvents: number }): Promise<void>;
}
