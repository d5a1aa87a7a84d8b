import { uuidv7 } from 'uuidv7';
import { Refusal } from '../errors.ts';
import {
  type AuditChanges,
  type AuditEventName,
  auditEvents,
  type UnrecordedAuditEvent,
} from '../log/audit-events.ts';
import type { AuditEntry, Log } from '../log/log.ts';
import type { AuditDraft, AuditEvent, AuditOf } from '../stores/audit.ts';
import type { Author } from './caller.ts';
import { toTimestamp } from './timestamp.ts';

/** Fields of an audit event. Its author, its time and, for users and sessions, its target are added. Default outcome: success. */
type EventNamed<Name extends AuditEventName> = Omit<
  AuditDraft,
  'id' | 'event' | 'outcome' | keyof Author['origin'] | 'actor'
> &
  Partial<Pick<AuditDraft, 'outcome'>> & { readonly event: Name };

/** An audit event that belongs to a change of the records. */
export type ChangeEvent = EventNamed<Exclude<AuditEventName, UnrecordedAuditEvent>>;

/** An audit event that belongs to no change of the records: access has ended, or something was refused. */
export type OtherEvent = EventNamed<UnrecordedAuditEvent>;

interface AuditParts {
  readonly log: Pick<Log, 'audit'>;
  /** Writes an event about the end of access to the records, without delaying that end; it has been logged already. */
  readonly keep: (event: AuditDraft) => void;
  /** True if a gateway on the same records should log the events of changes as well, because this process isn't a gateway. */
  readonly isForGateways?: boolean;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Writer of the audit events of one process. */
export class Audit {
  readonly #parts: AuditParts;

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  /** The events of a change: written in its transaction, which fails without them, then logged. */
  withChange<Result>(author: Author, eventsOf: (result: Result) => readonly ChangeEvent[]): AuditOf<Result> {
    const { log, isForGateways } = this.#parts;
    return {
      drafts: (result) => eventsOf(result).map((event) => draftOf(author, event)),
      onWritten: (entries) => {
        for (const entry of entries) log.audit(entry);
      },
      isForGateways,
    };
  }

  /** Logs an event that is part of no change, and writes it to the records unless events of its kind are only counted. */
  record(author: Author, event: OtherEvent): void {
    const { log, keep, now } = this.#parts;
    const draft = draftOf(author, event);
    if (auditEvents[event.event].kept !== 'afterwards') {
      log.audit(draft);
      return;
    }
    const kept = { ...draft, id: uuidv7(), time: now() };
    log.audit(kept);
    keep(kept);
  }
}

function draftOf({ actor, name, origin }: Author, event: EventNamed<AuditEventName>): AuditDraft {
  const names = actor.user === null || !name ? event.names : { [actor.user]: name, ...event.names };
  const target = event.target ?? targetOf(event);
  return { outcome: 'success', actor, ...event, target, ...(names !== undefined && { names }), ...origin };
}

/** The target of an event about its subject or its session; null for other events. */
function targetOf({ event, subject, session }: EventNamed<AuditEventName>): AuditEntry['target'] {
  const { target: type } = auditEvents[event];
  if (type !== 'user' && type !== 'session') return null;
  const id = type === 'user' ? subject : (session ?? null);
  return id === null ? null : { type, id };
}

/** Resolves and rejects as `attempt` does; a refusal by the throttle is recorded first, as a failure named `event`. */
export async function auditingThrottle<T>(
  attempt: Promise<T>,
  audit: Audit,
  author: Author,
  event: 'login_failed' | 'activation_failed' | 'invitation_failed',
): Promise<T> {
  try {
    return await attempt;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'too_many_attempts')
      audit.record(author, { event, outcome: 'failure', subject: null, reason: error.code });
    throw error;
  }
}

/** The audited fields of a record, by their names in the interface. */
interface AuditedFields extends Readonly<Record<string, unknown>> {
  readonly scopes?: readonly string[];
  readonly scope_sets?: readonly string[];
}

/**
 * The difference between two states of a record: the scopes and sets that were added or removed, and only the names of other
 * fields; null if there is none.
 */
export function changesBetween(before: AuditedFields, after: AuditedFields): AuditChanges | null {
  const { scopes, scope_sets, ...others } = after;
  const fields = Object.keys(others).filter((name) => before[name] !== others[name]);
  const changes = {
    ...(fields.length > 0 && { fields }),
    ...difference('scopes', before.scopes, scopes),
    ...difference('scope_sets', before.scope_sets, scope_sets),
  };
  return Object.keys(changes).length === 0 ? null : changes;
}

function difference(name: string, before: readonly string[] = [], after: readonly string[] = []) {
  const added = after.filter((item) => !before.includes(item));
  const removed = before.filter((item) => !after.includes(item));
  return added.length + removed.length === 0 ? {} : { [name]: { added, removed } };
}

/** Text that sorts after the id of any event with the same sequence number. */
export const afterAnyId = '~';

/** Presents an audit event as `AuditEvent`. */
export function presentAuditEvent(event: AuditEvent) {
  const { repeated } = event;
  return {
    id: event.id,
    time: toTimestamp(event.time),
    event: event.event,
    outcome: event.outcome,
    actor: event.actor,
    target: event.target,
    changes: event.changes,
    reason: event.reason ?? null,
    address: event.address,
    user_agent: event.userAgent ?? null,
    request_id: event.requestId,
    ...(repeated !== undefined && {
      count: repeated.count,
      first: toTimestamp(repeated.first),
      last: toTimestamp(repeated.last),
    }),
  };
}
