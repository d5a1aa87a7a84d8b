import type { Redis } from 'ioredis';
import type { Hearing } from './live-memory.ts';
import { WrongAnswer } from './resp.ts';

/** Listens to what is told of sessions that have ended, and knows how far it can be relied on. */
export interface Endings {
  readonly hearing: Hearing;
  close(): void;
}

export interface EndingsOptions {
  /** Opens a client of its own; undefined while there is no place to listen at. */
  readonly open: () => Redis | undefined;
  readonly channel: string;
  /** A session has ended, at `endedAt` by the store's clock. */
  readonly onEnded: (id: string, endedAt: number) => void;
  /** The server does not let it listen, for that reason. */
  readonly onDeaf: (reason: string) => void;
}

/** How often it is made sure that everything told so far has been heard, in ms. */
const beatIntervalMs = 300;
/** After how long without an answer another connection is tried, in ms. */
const patienceMs = 1_000;

/** Starts to listen; over a lost connection it starts anew. */
export function listenForEndings({ open, channel, onEnded, onDeaf }: EndingsOptions): Endings {
  let client: Redis | undefined;
  // One object, for it is looked at on every request.
  const hearing: { since: number | null; lastSince: number; until: number } = {
    since: null,
    lastSince: Number.POSITIVE_INFINITY,
    until: 0,
  };
  let lastAnswerAt = performance.now();
  let isBeating = false;
  let isDeaf = false;
  const beats = setInterval(beat, beatIntervalMs);
  beats.unref();
  restart();

  function restart(): void {
    client?.disconnect();
    hearing.since = null;
    isBeating = false;
    lastAnswerAt = performance.now();
    try {
      client = open();
    } catch {
      // A certificate file that is just being replaced: the next beat tries again.
      client = undefined;
    }
    const started = client;
    if (started === undefined) return;
    // The link for commands tells why the store is away.
    started.on('error', (error: Error) => {
      if (error instanceof WrongAnswer) beDeaf(error);
    });
    started.on('message', hear);
    started.on('close', () => {
      if (client === started) hearing.since = null;
    });
    started.on('ready', () => {
      started.subscribe(channel).then(
        () => {
          if (client !== started) return;
          // Looks sent from now on are corrected by what is told.
          isDeaf = false;
          lastAnswerAt = performance.now();
          hearing.since = lastAnswerAt;
          hearing.lastSince = lastAnswerAt;
          hearing.until = lastAnswerAt;
        },
        (error: Error) => {
          if (error.name === 'ReplyError') beDeaf(error);
        },
      );
    });
  }

  function beDeaf({ message }: Error): void {
    if (isDeaf) return;
    isDeaf = true;
    onDeaf(message);
  }

  function hear(_channel: string, message: string): void {
    const [id = '', endedAt = ''] = message.split(' ');
    // Whoever may publish there may write anything.
    if (/^\d{1,15}$/.test(endedAt)) onEnded(id, Number(endedAt));
  }

  /** Answers and what is told share one connection: once a ping is answered, all that was told before has come. */
  function beat(): void {
    const sentAt = performance.now();
    if (sentAt - lastAnswerAt > patienceMs) {
      restart();
      return;
    }
    const beating = client;
    if (hearing.since === null || isBeating || beating === undefined) return;
    isBeating = true;
    beating.ping().then(
      () => {
        if (client !== beating) return;
        isBeating = false;
        hearing.until = sentAt;
        lastAnswerAt = performance.now();
      },
      () => {
        if (client === beating) isBeating = false;
      },
    );
  }

  return {
    hearing,
    close() {
      clearInterval(beats);
      const closing = client;
      client = undefined;
      closing?.disconnect();
    },
  };
}
