import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../errors.ts';
import type { AuditDraft } from './audit.ts';
import type { Records } from './records.ts';

/** Maximum number of waiting events, which take a few megabytes. */
const maxWaiting = 10_000;
/** Number of waiting events at which no more refusals are added: a flood of them must leave room for other events. */
const maxWaitingForRefusals = maxWaiting / 10;
/** Number of events written in a transaction. */
const batchSize = 50;
const retryAfterMs = 1_000;

/** Listeners of a queue. */
export interface AuditQueueEvents {
  /** Called with the number of events that have been written to the records. */
  onWritten(count: number): void;
  /** Called with the number of events that remain in the log alone: the queue was full or closed, or a write failed. */
  onLost(count: number): void;
  /** Called with the error of a write that failed although the store was available: a defect. Its events are lost. */
  onError(error: unknown): void;
}

/**
 * Queue of audit events whose cause doesn't wait for the write: they are written in order, each once, as soon as the store
 * accepts writes. Events that are still waiting when the process is killed are lost.
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

  /** Adds an event, which must have an `id`; never throws. */
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

  /** Writes the waiting events for at most `timeoutMs`; the rest are lost, as are events added later. */
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

  /** Writes the waiting events until none is left or the store is unavailable; never rejects. */
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
