import type { AuditChanges } from '../log/audit-events.ts';
import type { AuditEntry } from '../log/log.ts';
import type { Awaitable } from './awaitable.ts';
import type { FieldFilter, ListPage, ListQuery } from './list-query.ts';

/** An audit line that is still to be numbered and dated; with an `id` it is kept once, however often it is written. */
export type AuditDraft = Omit<AuditEntry, 'time'>;

/** An audit line as the records keep it. */
export interface AuditEvent
  extends Pick<
    AuditEntry,
    'outcome' | 'actor' | 'reason' | 'address' | 'userAgent' | 'requestId' | 'repeated'
  > {
  /** The order of commits, ascending. */
  readonly seq: number;
  readonly id: string;
  /** As in log/audit-events.ts, of whichever version wrote it. */
  readonly event: string;
  /** Epoch ms; never less than that of an earlier event. */
  readonly time: number;
  readonly target: { readonly type: string; readonly id: string; readonly label?: string } | null;
  readonly changes: AuditChanges | null;
}

/** The audit lines of a change: written in its transaction, and handed back once it is committed. */
export interface AuditOf<Result> {
  /** The lines of a change with that result; none for a change that was not made. Called again if the transaction is repeated. */
  readonly drafts: (result: Result) => readonly AuditDraft[];
  /** Called after the commit, with as many entries as there were drafts. */
  readonly onWritten: (entries: readonly AuditEntry[]) => void;
  /** Set if one of the gateways on the store has to log the events, too. */
  readonly isForGateways?: boolean;
}

/** Query of audit events, in the order of commits. */
export type AuditQuery = ListQuery<'time', readonly FieldFilter<AuditFilterField>[]>;

/** Field that audit events are filtered by; `actor` and `target` by an id. */
export type AuditFilterField = 'event' | 'outcome' | 'actor' | 'target' | 'address' | 'request_id' | 'time';

/** Page of audit events. */
export interface AuditPage extends ListPage<AuditEvent> {
  /** The number of the last event ever written, whatever the filters. */
  readonly last: number;
  /** The highest number that is no longer kept; 0: nothing was dropped. */
  readonly dropped: number;
}

/** The part of the records store about audit events. */
export interface AuditRecords {
  /** Keeps events that belong to no change of the records. */
  addAuditEvents(audit: AuditOf<void>): Promise<void>;
  listAuditEvents(query: AuditQuery): Awaitable<AuditPage>;
  findAuditEvent(id: string): Awaitable<AuditEvent | undefined>;
  /**
   * Drops the events before `since`, epoch ms, and the oldest beyond `maxEvents`; a tenth of it is the bound of those that
   * count refusals. In small transactions.
   */
  pruneAuditEvents(limits: { readonly since: number; readonly maxEvents: number }): Promise<void>;
}
