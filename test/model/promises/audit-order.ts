import type { Instant } from './register.ts';

/** What is read of an audit event. */
export interface AuditEvent {
  readonly id: string;
  /** RFC 3339. */
  readonly time: string;
  readonly event: string;
  readonly outcome: string;
  readonly request_id: string | null;
  readonly target: { readonly type: string; readonly id: string } | null;
}

/** What a request must have left in the audit. */
export interface ExpectedEvents {
  readonly requestId: string;
  readonly from: Instant;
  /** When it was acknowledged; null: its outcome is unknown. */
  readonly to: Instant | null;
  /** Each once; with an unknown outcome or as `optional`, each at most once. */
  readonly events: readonly { readonly event: string; readonly target: string | null }[];
  readonly isOptional?: boolean;
  /** Refused, as its credential ended meanwhile: a key that was made by then was deleted again. */
  readonly isUndone?: boolean;
}

/** Events that are written in the transaction of their change. */
const withTheChange = new Set([
  ...['user_created', 'user_changed', 'user_removed', 'user_disabled', 'user_enabled', 'password_changed'],
  ...['sessions_ended', 'all_sessions_ended', 'scope_set_created', 'scope_set_changed', 'scope_set_removed'],
  ...['api_key_created', 'api_key_deleted', 'api_key_transferred', 'login_succeeded'],
]);

/** What is wrong with the audit, read as a feed, given what was asked for. */
export function auditProblems(
  feed: readonly AuditEvent[],
  expected: ReadonlyMap<string, ExpectedEvents>,
): string[] {
  return [...orderProblems(feed), ...realTimeProblems(feed, expected), ...eventProblems(feed, expected)];
}

/** Each event is there once, and `time` never falls. */
function orderProblems(feed: readonly AuditEvent[]): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  let last: AuditEvent | undefined;
  for (const event of feed) {
    if (seen.has(event.id)) problems.push(`${nameOf(event)} is in the feed twice`);
    seen.add(event.id);
    if (last !== undefined && event.time < last.time)
      problems.push(`${nameOf(event)} has an earlier time than ${nameOf(last)} before it`);
    last = event;
  }
  return problems;
}

/** The order is that of the commits: nothing stands after what was only begun once it had been acknowledged. */
function realTimeProblems(
  feed: readonly AuditEvent[],
  expected: ReadonlyMap<string, ExpectedEvents>,
): string[] {
  const problems: string[] = [];
  let latest: { readonly from: Instant; readonly event: AuditEvent } | undefined;
  for (const event of feed) {
    const request = requestOf(event, expected);
    if (request === undefined) continue;
    if (latest !== undefined && request.to !== null && latest.from > request.to)
      problems.push(`${nameOf(event)} comes after ${nameOf(latest.event)}, which began when it was over`);
    if (latest === undefined || request.from > latest.from) latest = { from: request.from, event };
  }
  return problems;
}

/** Each acknowledged change has its events, once; nothing has one twice, or one that no change explains. */
function eventProblems(feed: readonly AuditEvent[], expected: ReadonlyMap<string, ExpectedEvents>): string[] {
  const counts = new Map<string, number>();
  const problems: string[] = [];
  const toBeUndone: AuditEvent[] = [];
  for (const event of feed) {
    if (!withTheChange.has(event.event) || event.request_id === null) continue;
    if (event.event === 'api_key_created' && expected.get(event.request_id)?.isUndone) toBeUndone.push(event);
    const key = keyOf(event.request_id, event.event, event.target?.id ?? null);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (counts.get(key) === 2) problems.push(`${nameOf(event)} was written twice`);
    if (!expected.has(event.request_id)) problems.push(`${nameOf(event)} is of a request that was refused`);
  }
  for (const event of toBeUndone)
    if (!counts.has(keyOf(event.request_id!, 'api_key_deleted', event.target?.id ?? null)))
      problems.push(`${nameOf(event)} was refused, and not undone`);
  for (const { requestId, to, events, isOptional } of expected.values()) {
    if (to === null || isOptional === true) continue;
    for (const { event, target } of events)
      if (!counts.has(keyOf(requestId, event, target)))
        problems.push(`${event} of ${requestId} is missing, though the change was acknowledged`);
  }
  return problems;
}

function requestOf(event: AuditEvent, expected: ReadonlyMap<string, ExpectedEvents>) {
  if (!withTheChange.has(event.event) || event.request_id === null) return undefined;
  return expected.get(event.request_id);
}

function keyOf(requestId: string, event: string, target: string | null): string {
  return `${requestId} ${event} ${target}`;
}

function nameOf({ event, request_id, id }: AuditEvent): string {
  return `${event} of ${request_id ?? 'no request'} (${id})`;
}
