import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../errors.ts';
import type { AuditDraft } from './audit.ts';
import type { Records } from './records.ts';

/** Maximum number of waiting events: a few megabytes. */
const maxWaiting = 10_000;
/** Part of the queue that refusals may fill: a flood of them must not displace what was revoked. */
const maxWaitingForRefusals = maxWaiting / 10;
/** Number of events written in a transaction. */
const batchSize = 50;
const retryAfterMs = 1_000;

/** Reports of a queue. */
export interface AuditQueueEvents {
  /** Events that are in the records now. */
  onWritten(count: number): void;
  /** Events that are only in the log: too many were waiting, or the process ends. */
  onLost(count: number): void;
  /** Events that were dropped because the records can't take them: a defect. */
  onError(error: unknown): void;
}

/**
 * Queue of events that must not hold up their cause: kept in the records as soon as the store takes them, in order, each
 * once. Waiting events are lost with the process.
 */
export class AuditQueue {
  readonly #records: Pick<Records, 'addAuditEvents'>;
  readonly #events: AuditQueueEvents;
  #waiting: AuditDraft[] = [];
  #sending: Promise<void> | null = null;
  #retryTimer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(records: Pick<Records, 'addAuditEvents'>, events: AuditQueueEvents) {
    this.#records = records;
    this.#events = events;
  }

  /** Number of waiting events. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Adds an event, which needs an `id`; never throws. */
  add(draft: AuditDraft): void {
    this.#add([draft], maxWaiting);
  }

  /** Adds events that count refusals. */
  addRefusals(drafts: readonly AuditDraft[]): void {
    this.#add(drafts, maxWaitingForRefusals);
  }

  #add(drafts: readonly AuditDraft[], most: number): void {
    const room = this.#isClosed ? 0 : Math.max(0, most - this.#waiting.length);
    this.#waiting.push(...drafts.slice(0, room));
    if (drafts.length > room) this.#events.onLost(drafts.length - room);
    if (this.#retryTimer === null) this.#send();
  }

  /** Writes the waiting events, for at most `timeoutMs`; the rest is lost. */
  async close(timeoutMs: number): Promise<void> {
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    this.#send();
    await Promise.race([this.#sending, sleep(timeoutMs, undefined, { ref: false })]);
    this.#isClosed = true;
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    const left = this.#waiting.length;
    this.#waiting = [];
    if (left > 0) this.#events.onLost(left);
  }

  #send(): void {
    this.#retryTimer = null;
    this.#sending ??= this.#writeAll().finally(() => {
      this.#sending = null;
    });
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, batchSize);
      try {
        await this.#records.addAuditEvents({ drafts: () => batch, onWritten() {} });
        this.#events.onWritten(batch.length);
      } catch (error) {
        if (error instanceof Refusal && error.code === 'store_unavailable') return this.#retryLater();
        this.#events.onError(error);
        this.#events.onLost(batch.length);
      }
      this.#waiting = this.#waiting.slice(batch.length);
    }
  }

  #retryLater(): void {
    if (this.#isClosed) return;
    this.#retryTimer = setTimeout(() => this.#send(), retryAfterMs);
    this.#retryTimer.unref();
  }
}
