import type { Client, Notification } from 'pg';
import type { ChangeFeed, RecordsChange } from '../change-feed.ts';
import { within } from '../timeout.ts';
import { type LogPosition, readStoreState, type StoreState } from './change-log.ts';
import { parseHints, parseNotification } from './changes.ts';

export interface ListenOptions {
  /** Makes a client of its own, not connected yet. */
  readonly open: () => Client;
  readonly channel: string;
  /** Where the store stood before anything was remembered of it. */
  readonly from: LogPosition;
}

/** How often it is made sure that every change has been heard, in ms. */
const heartbeatIntervalMs = 200;
/** After how long without a response there is a doubt that the server is there, in ms. */
const doubtMs = 400;
/** How long one beat, or a new connection, may take, in ms. */
const heartbeatTimeoutMs = 1_000;
/** How long after a lost connection a new one is tried, in ms. */
const retryDelayMs = 200;
/** How many notifications are remembered until the log has told the same. */
const mostNotified = 10_000;

/**
 * Listens for changes on a connection of its own. A notification tells of a change at once; the log in the store, read with
 * every beat, is what can be relied on. It tells what was notified late or never, also over a lost connection, so that
 * nothing else is forgotten; only where it does not reach back, or is of another history, everything is.
 */
export function listenForChanges({ open, channel, from }: ListenOptions): ChangeFeed {
  const listeners: ((change: RecordsChange | null) => void)[] = [];
  const heartbeatListeners: ((isWell: boolean) => void)[] = [];
  let client: Client | null = null;
  /** Up to where the log has been read. */
  let position = from;
  /** What was notified of changes after that, by version. */
  const notified = new Map<number, string>();
  let notifiedUntil = 0;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  void connect();

  function tell(change: RecordsChange | null): void {
    for (const listener of listeners) listener(change);
  }

  function notifyHeartbeat(isWell: boolean): void {
    for (const listener of isClosed ? [] : heartbeatListeners) listener(isWell);
  }

  /** Tells of a doubt long before it is given up: meanwhile it can be found out whether the server is there. */
  function withTimeout<T>(work: Promise<T>): Promise<T> {
    within(doubtMs, work).catch(() => notifyHeartbeat(false));
    return within(heartbeatTimeoutMs, work);
  }

  function hear({ payload = '' }: Notification): void {
    const change = parseNotification(payload);
    // What the log has told need not be told again.
    if (change === undefined || change.version <= position.version) return;
    const parsed = parseHints(change.hints);
    // Too long for a notification: the log has all of it.
    if (parsed === null) return;
    // Anybody in the database may notify: what is made up hides nothing, for the log is read all the same.
    if (notified.size >= mostNotified) notified.clear();
    notified.set(change.version, change.hints);
    tell(parsed);
  }

  /** Tells what was changed since the last look. */
  function catchUp({ version, mark, changes }: StoreState): void {
    if (changes === null) tell(null);
    for (const change of changes ?? [])
      if (notified.get(change.version) !== change.hints) tell(parseHints(change.hints));
    position = { version, mark };
    for (const told of notified.keys()) if (told <= version) notified.delete(told);
  }

  async function connect(): Promise<void> {
    let connecting: Client | null = null;
    try {
      connecting = open();
      const lost = connecting;
      connecting.on('error', () => drop(lost));
      connecting.on('end', () => drop(lost));
      connecting.on('notification', (told) => client === lost && hear(told));
      client = connecting;
      // Of another server the same number may be another change.
      notified.clear();
      await withTimeout(connecting.connect());
      await withTimeout(connecting.query(`LISTEN "${channel}"`));
      await heartbeat(connecting);
    } catch {
      if (connecting !== null) return drop(connecting);
      notifyHeartbeat(false);
      later(connect, retryDelayMs);
    }
  }

  /** Every change made before it was sent has been told once it is answered. */
  async function heartbeat(pinged: Client): Promise<void> {
    const sentAt = performance.now();
    const ask = async (sql: string, values: readonly unknown[]) =>
      (await pinged.query(sql, [...values])).rows;
    const state = await withTimeout(readStoreState(ask, position));
    if (client !== pinged) return;
    catchUp(state);
    notifiedUntil = sentAt;
    notifyHeartbeat(!state.isReadOnly);
    later(() => heartbeat(pinged).catch(() => drop(pinged)), heartbeatIntervalMs);
  }

  function drop(lost: Client): void {
    if (client !== lost) return;
    client = null;
    notifyHeartbeat(false);
    // With a question unanswered this cuts the connection.
    lost.end().catch(() => {});
    later(connect, retryDelayMs);
  }

  function later(run: () => unknown, delayMs: number): void {
    clearTimeout(timer);
    if (isClosed) return;
    timer = setTimeout(run, delayMs);
    timer.unref();
  }

  return {
    get notifiedUntil() {
      return notifiedUntil;
    },
    onChange: (listener) => void listeners.push(listener),
    onHeartbeat: (listener) => void heartbeatListeners.push(listener),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      const closing = client;
      client = null;
      await closing?.end().catch(() => {});
    },
  };
}
