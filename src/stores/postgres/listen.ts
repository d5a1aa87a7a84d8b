import type { Client, Notification } from 'pg';
import type { ChangeFeed, RecordsChange } from '../change-feed.ts';
import { within } from '../patience.ts';
import { type NotifiedChange, selectPlace } from './changes.ts';

/** Up to where something has been heard, and of which run of which server. */
interface Place {
  readonly version: number;
  readonly server: string;
  readonly isReadOnly: boolean;
}

export interface ListenOptions {
  /** Makes a client of its own, not connected yet. */
  readonly open: () => Client;
  readonly channel: string;
  /** Reads what is notified; undefined when it is nothing of ours. */
  readonly parse: (payload: string) => NotifiedChange | undefined;
}

/** How often it is made sure that every change has been heard, in ms. */
const beatIntervalMs = 200;
/** After how long without an answer there is a doubt that the server is there, in ms. */
const doubtMs = 400;
/** How long one beat, or a new connection, may take, in ms. */
const patienceMs = 1_000;
/** How long after a lost connection a new one is tried, in ms. */
const retryDelayMs = 200;

/**
 * Listens for changes on a connection of its own. Versions have no gaps: whoever has heard one after the other has heard
 * everything, also over a lost connection; after a gap everything is forgotten.
 */
export function listenForChanges({ open, channel, parse }: ListenOptions): ChangeFeed {
  const listeners: ((change: RecordsChange | null) => void)[] = [];
  const beatListeners: ((isWell: boolean) => void)[] = [];
  let client: Client | null = null;
  let known: number | null = null;
  let knownServer: string | null = null;
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
    const notified = parse(payload);
    // Before the first look at the version there is nothing that could be forgotten.
    if (notified === undefined || known === null) return;
    const isGap = notified.version > known + 1;
    known = Math.max(known, notified.version);
    // Also what seems to be old: anybody in the database may notify, and a made-up number must not hide a change.
    tell(isGap ? null : notified.change);
  }

  async function connect(): Promise<void> {
    let connecting: Client | null = null;
    try {
      connecting = open();
      const lost = connecting;
      connecting.on('error', () => drop(lost));
      connecting.on('end', () => drop(lost));
      connecting.on('notification', hear);
      client = connecting;
      await patiently(connecting.connect());
      await patiently(connecting.query(`LISTEN "${channel}"`));
      await beat(connecting);
    } catch {
      if (connecting !== null) return drop(connecting);
      tellBeat(false);
      later(connect, retryDelayMs);
    }
  }

  /** Nothing was missed up to the moment it was sent, if the version is the one that was heard last. */
  async function beat(beating: Client): Promise<void> {
    const sentAt = performance.now();
    const { version, server, isReadOnly } = await patiently(readPlace(beating));
    if (client !== beating) return;
    // What was remembered before anything could be heard may be out of date; so may everything after a gap, or at
    // another server: it may have lost the last writes of the one before, and have come to the same version by others.
    if (version !== known || server !== knownServer) tell(null);
    known = version;
    knownServer = server;
    heardUntil = sentAt;
    tellBeat(!isReadOnly);
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

async function readPlace(client: Client): Promise<Place> {
  const { rows } = await client.query<Place>(selectPlace);
  return rows[0]!;
}
