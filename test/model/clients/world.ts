import type { Answered, Call } from '../machine/call.ts';
import type { ModelGateway } from '../machine/gateway.ts';
import type { AuditEvent, ExpectedEvents } from '../promises/audit-order.ts';
import type { ClockSteps } from '../promises/clock-error.ts';
import type { Disturbances, Disturbed } from '../promises/disturbances.ts';
import type { PendingEnding } from '../promises/endings.ts';
import type { History, Operation } from '../promises/history.ts';
import type { Judge } from '../promises/judge.ts';
import type { Made, ModelledKey, ModelledSession, ModelledUser, Records } from '../promises/records.ts';
import type { Instant, PendingWrite } from '../promises/register.ts';

/** What one client holds. Which places it fills follows from its script alone. */
export interface Places {
  readonly sessions: (ModelledSession | undefined)[];
  readonly keys: (ModelledKey | undefined)[];
  /** Users that no other client touches. */
  readonly users: (ModelledUser | undefined)[];
}

/** Everything that clients, faults and judgements share in a run. */
export interface World {
  readonly gateways: readonly ModelGateway[];
  readonly records: Records;
  readonly history: History;
  readonly disturbances: Disturbances;
  readonly judge: Judge;
  readonly places: readonly Places[];
  readonly sharedUsers: readonly ModelledUser[];
  readonly catalogue: readonly string[];
  /** A key that holds everything; no client touches it. */
  readonly rootKey: string;
  /** What requests must have left in the audit, by request id. */
  readonly expected: Map<string, ExpectedEvents>;
  /** The audit as the feed has given it so far. */
  readonly feed: AuditEvent[];
  readonly graceMs: number;
  now(): Instant;
  readonly clockError: ClockSteps['error'];
  isKept(from: Instant, to: Instant): boolean;
}

/** A request to one gateway, in the words of the history. */
export interface Sent {
  readonly id: string;
  readonly what: string;
  readonly gateway: number;
  /** The record that it is about, and those that have a part in it. */
  readonly about: readonly object[];
  readonly isChange?: boolean;
  /** It changes nothing about those, but makes another one. */
  readonly isMaking?: boolean;
  readonly call: Call;
  /** Statuses that some state of the records explains; 503 and no response are judged by the faults. */
  readonly statuses: readonly number[];
  /** Whether the response may be cut because the credential ended. */
  readonly mayBeCut?: (made: Made) => boolean;
}

/** What became of it. */
export interface Received extends Answered {
  readonly made: Made;
  readonly operation: Operation;
  /** Whether the outcome is known: neither 503 nor lost. */
  readonly isKnown: boolean;
}

/** How long before a request a fault may have begun to end and still explain it, besides its recovery. */
const lateMs = 500;

/** Sends a request and judges its status as far as that needs no records. */
export async function send(world: World, sent: Sent): Promise<Received> {
  const { history } = world;
  const { id, what, gateway, about, isChange = false, isMaking = false } = sent;
  const operation = history.begin(about, isChange && !isMaking, { id, what, gateway, from: world.now() });
  const headers = { ...sent.call.headers, 'x-request-id': id };
  const answered = await world.gateways[gateway]!.send({ ...sent.call, headers });
  const made = { from: operation.from, to: world.now() };
  history.end(operation, made.to, `${answered.status} ${answered.code}`.trimEnd());
  const problem = statusProblem(world, sent, answered, made);
  if (problem !== null) history.violated(`${what}: ${problem}`, made.to, about);
  const isKnown = answered.status !== 0 && answered.status !== 503;
  return { ...answered, made, operation, isKnown };
}

function statusProblem(world: World, sent: Sent, { status, code }: Answered, made: Made): string | null {
  const { disturbances } = world;
  const { from, to } = made;
  const touches = (...what: Disturbed[]) => disturbances.touches(what, from - lateMs, to);
  if (status === 0) {
    if (touches(`gateway ${sent.gateway}`)) return null;
    if (code === 'hangs') return 'it hangs';
    return sent.mayBeCut?.(made) === true ? null : `there is no whole response: ${code}`;
  }
  if (status === 503) {
    if (touches('records', 'sessions', `gateway ${sent.gateway}`)) return null;
    if (sent.isChange === true && touches('locks')) return null;
    return disturbances.stalledMs(from - 1_000, to) > 250 ? null : `503 ${code}, though all stores are there`;
  }
  return sent.statuses.includes(status) ? null : `${status} ${code}`;
}

/** Settles what a request was to change, by what became of it. */
export function settle(
  world: World,
  received: Received,
  isDone: boolean,
  ...pending: readonly (PendingWrite | PendingEnding)[]
): void {
  const { made, isKnown } = received;
  for (const change of pending)
    if (isDone) change.acknowledge(made.to);
    else if (isKnown) change.refuse();
    else change.lose(() => world.disturbances.settledAfter(made.to));
}

/** Notes what a change must have left in the audit. */
export function expectEvents(
  world: World,
  received: Received,
  isDone: boolean,
  events: ExpectedEvents['events'],
  isOptional = false,
): void {
  const { operation, made, isKnown } = received;
  if (isKnown && !isDone) return;
  const requestId = operation.id;
  world.expected.set(requestId, {
    requestId,
    from: made.from,
    to: isDone ? made.to : null,
    events,
    isOptional,
  });
}

/** The headers of the caller that holds everything. */
export function asRoot(world: World): Record<string, string> {
  return { 'x-api-key': world.rootKey };
}

/** The scopes with which the echo upstream saw a request. */
export function scopesSeen(json: any): string {
  const headers = (json?.headers ?? []) as [string, string][];
  return headers.find(([name]) => name.toLowerCase() === 'x-auth-scopes')?.[1] ?? '';
}
