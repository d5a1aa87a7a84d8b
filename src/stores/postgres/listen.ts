import type { Client, Notification } from 'pg';
import type { ChangeFeed, RecordsChange } from '../change-feed.ts';
import { within } from '../timeout.ts';
import { type Place, readStoreState, type StoreState } from './change-log.ts';
import { parseHints, parseNotification } from './changes.ts';

export interface ListenOptions {
  /** Makes a client of its own, not connected yet. */
  readonly open: () => Client;
  readonly channel: string;
  /** Where the store stood before anything was remembered of it. */
  readonly from: Place;
}

/** How often it is made sure that every change has been heard, in ms. */
const beatIntervalMs = 200;
/** After how long without an answer there is a doubt that the server is there, in ms. */
const doubtMs = 400;
/** How long one beat, or a new connection, may take, in ms. */
const patienceMs = 1_000;
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
  const beatListeners: ((isWell: boolean) => void)[] = [];
  let client: Client | null = null;
  /** Up to where the log has been read. */
  let place = from;
  /** What was notified of changes after that, by version. */
  const notified = new Map<number, string>();
  let heardUntil = 0;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  void connect();

  function tell(change: RecordsChange | null): void {
    for (const listener of listeners) listener(change);
  }

  function tellBeat(isWell: boolean): void {
    for (const listener of isClosed ? [] : beatListeners) listener(isWell);
  }

  /** Tells of a doubt long before it is given up: meanwhile it can be found out whether the server is there. */
  function patiently<T>(work: Promise<T>): Promise<T> {
    within(doubtMs, work).catch(() => tellBeat(false));
    return within(patienceMs, work);
  }

  function hear({ payload = '' }: Notification): void {
    const change = parseNotification(payload);
    // What the log has told need not be told again.
    if (change === undefined || change.version <= place.version) return;
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
    place = { version, mark };
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
      await patiently(connecting.connect());
      await patiently(connecting.query(`LISTEN "${channel}"`));
      await beat(connecting);
    } catch {
      if (connecting !== null) return drop(connecting);
      tellBeat(false);
      later(connect, retryDelayMs);
    }
  }

  /** Every change made before it was sent has been told once it is answered. */
  async function beat(beating: Client): Promise<void> {
    const sentAt = performance.now();
    const ask = async (sql: string, values: readonly unknown[]) =>
      (await beating.query(sql, [...values])).rows;
    const state = await patiently(readStoreState(ask, place));
    if (client !== beating) return;
    catchUp(state);
    heardUntil = sentAt;
    tellBeat(!state.isReadOnly);
    later(() => beat(beating).catch(() => drop(beating)), beatIntervalMs);
  }

  function drop(lost: Client): void {
    if (client !== lost) return;
    client = null;
    tellBeat(false);
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
    get heardUntil() {
      return heardUntil;
    },
    onChange: (listener) => void listeners.push(listener),
    onBeat: (listener) => void beatListeners.push(listener),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      const closing = client;
      client = null;
      await closing?.end().catch(() => {});
    },
  };
}
