import type { Client, Notification } from 'pg';
import type { ChangeFeed, RecordsChange } from '../remote/change-feed.ts';
import { within } from '../remote/timeout.ts';
import { type LogPosition, readStoreState, type StoreState } from './change-log.ts';
import { parseHints, parseNotification } from './changes.ts';

export interface ListenOptions {
  /** Creates a dedicated client, not connected yet. */
  readonly open: () => Client;
  readonly channel: string;
  /** The position in the log before anything was cached. */
  readonly from: LogPosition;
}

/** Interval at which the log is read, ms. */
const heartbeatIntervalMs = 200;
/** Time without a response after which the server's availability is in doubt, ms. */
const doubtMs = 400;
/** Timeout of a heartbeat, and of a new connection, ms. */
const heartbeatTimeoutMs = 1_000;
/** Delay between a lost connection and the next attempt, ms. */
const retryDelayMs = 200;
/** Maximum number of notifications remembered until their changes are read from the log. */
const maxNotified = 10_000;

/**
 * Listens for changes on a connection of its own. A notification reports a change at once, but only the log in the store, read
 * with every heartbeat, is reliable: it also has the changes whose notifications are late or were lost with the connection. If
 * the log doesn't reach back far enough, or is of another history, the listeners are told that anything may have changed.
 */
export class ChangeListener implements ChangeFeed {
  readonly #options: ListenOptions;
  readonly #changeListeners: ((change: RecordsChange | null) => void)[] = [];
  readonly #heartbeatListeners: ((isHealthy: boolean) => void)[] = [];
  /** Every change is notified, perhaps late: the log has those that were missed while disconnected. */
  readonly notifiedSince = Number.NEGATIVE_INFINITY;
  notifiedUntil = 0;
  /** Hints of the changes that were notified before they were read from the log, by version. */
  readonly #notified = new Map<number, string>();
  /** Position up to which the log has been read. */
  #position: LogPosition;
  #client: Client | null = null;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ListenOptions) {
    this.#options = options;
    this.#position = options.from;
    void this.#connect();
  }

  onChange(listener: (change: RecordsChange | null) => void): void {
    this.#changeListeners.push(listener);
  }

  noteChange(change: RecordsChange | null): void {
    for (const listener of this.#changeListeners) listener(change);
  }

  onHeartbeat(listener: (isHealthy: boolean) => void): void {
    this.#heartbeatListeners.push(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const closing = this.#client;
    this.#client = null;
    await closing?.end().catch(() => {});
  }

  async #connect(): Promise<void> {
    let client: Client | null = null;
    try {
      client = this.#options.open();
      this.#attach(client);
      await this.#withTimeout(client.connect());
      await this.#withTimeout(client.query(`LISTEN "${this.#options.channel}"`));
      await this.#heartbeat(client);
    } catch {
      if (client !== null) return this.#disconnect(client);
      this.#emitHeartbeat(false);
      this.#schedule(() => this.#connect(), retryDelayMs);
    }
  }

  #attach(client: Client): void {
    client.on('error', () => this.#disconnect(client));
    client.on('end', () => this.#disconnect(client));
    client.on('notification', (message) => this.#client === client && this.#onNotification(message));
    this.#client = client;
    // On another server the same version may be another change.
    this.#notified.clear();
  }

  /** Reads the log: once the response is processed, every change made before the query was sent has been reported. */
  async #heartbeat(client: Client): Promise<void> {
    const sentAt = performance.now();
    const query = async (sql: string, values: readonly unknown[]) =>
      (await client.query(sql, [...values])).rows;
    const state = await this.#withTimeout(readStoreState(query, this.#position));
    if (this.#client !== client) return;
    this.#catchUp(state);
    this.notifiedUntil = sentAt;
    this.#emitHeartbeat(!state.isReadOnly);
    const next = () => this.#heartbeat(client).catch(() => this.#disconnect(client));
    this.#schedule(next, heartbeatIntervalMs);
  }

  /** Waits for `work` up to the timeout; reports doubt long before, so that the server can be checked in the meantime. */
  #withTimeout<T>(work: Promise<T>): Promise<T> {
    within(doubtMs, work).catch(() => this.#emitHeartbeat(false));
    return within(heartbeatTimeoutMs, work);
  }

  #disconnect(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#emitHeartbeat(false);
    // With a query in flight this cuts the connection.
    client.end().catch(() => {});
    this.#schedule(() => this.#connect(), retryDelayMs);
  }

  #onNotification({ payload = '' }: Notification): void {
    const change = parseNotification(payload);
    // The log has already reported everything up to its position.
    if (change === undefined || change.version <= this.#position.version) return;
    const parsed = parseHints(change.hints);
    // Too long for a notification: the log has all of it.
    if (parsed === null) return;
    // Any user of the database may notify: a forged notification hides nothing, as the log is read in any case.
    if (this.#notified.size >= maxNotified) this.#notified.clear();
    this.#notified.set(change.version, change.hints);
    this.noteChange(parsed);
  }

  /** Reports the changes that the log has beyond the position, except those already notified. */
  #catchUp({ version, mark, changes }: StoreState): void {
    if (changes === null) this.noteChange(null);
    for (const change of changes ?? [])
      if (this.#notified.get(change.version) !== change.hints) this.noteChange(parseHints(change.hints));
    this.#position = { version, mark };
    for (const notified of this.#notified.keys()) if (notified <= version) this.#notified.delete(notified);
  }

  #emitHeartbeat(isHealthy: boolean): void {
    for (const listener of this.#isClosed ? [] : this.#heartbeatListeners) listener(isHealthy);
  }

  #schedule(run: () => unknown, delayMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(run, delayMs);
    this.#timer.unref();
  }
}
