import type { Redis } from 'ioredis';
import type { Subscription } from './live-memory.ts';
import { UnexpectedReply } from './resp.ts';

/** Listens to what is told of sessions that have ended, and knows how far it can be relied on. */
export interface SessionEnds {
  readonly subscription: Subscription;
  close(): void;
}

export interface SessionEndsOptions {
  /** Opens a client of its own; undefined while there is no place to listen at. */
  readonly open: () => Redis | undefined;
  readonly channel: string;
  /** A session has ended, at `endedAt` by the store's clock. */
  readonly onEnded: (id: string, endedAt: number) => void;
  /** The server does not let it listen, for that reason. */
  readonly onNotificationsLost: (reason: string) => void;
}

/** How often it is made sure that everything told so far has been heard, in ms. */
const heartbeatIntervalMs = 300;
/** After how long without a response another connection is tried, in ms. */
const heartbeatTimeoutMs = 1_000;

/** Starts to listen; over a lost connection it starts anew. */
export function listenForSessionEnds({
  open,
  channel,
  onEnded,
  onNotificationsLost,
}: SessionEndsOptions): SessionEnds {
  let client: Redis | undefined;
  // One object, for it is looked at on every request.
  const subscription: { since: number | null; lastSince: number; until: number } = {
    since: null,
    lastSince: Number.POSITIVE_INFINITY,
    until: 0,
  };
  let lastReplyAt = performance.now();
  let isHeartbeatPending = false;
  let areNotificationsLost = false;
  const heartbeatTimer = setInterval(heartbeat, heartbeatIntervalMs);
  heartbeatTimer.unref();
  restart();

  function restart(): void {
    client?.disconnect();
    subscription.since = null;
    isHeartbeatPending = false;
    lastReplyAt = performance.now();
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
      if (error instanceof UnexpectedReply) reportNotificationsLost(error);
    });
    started.on('message', hear);
    started.on('close', () => {
      if (client === started) subscription.since = null;
    });
    started.on('ready', () => {
      started.subscribe(channel).then(
        () => {
          if (client !== started) return;
          // Looks sent from now on are corrected by what is told.
          areNotificationsLost = false;
          lastReplyAt = performance.now();
          subscription.since = lastReplyAt;
          subscription.lastSince = lastReplyAt;
          subscription.until = lastReplyAt;
        },
        (error: Error) => {
          if (error.name === 'ReplyError') reportNotificationsLost(error);
        },
      );
    });
  }

  function reportNotificationsLost({ message }: Error): void {
    if (areNotificationsLost) return;
    areNotificationsLost = true;
    onNotificationsLost(message);
  }

  function hear(_channel: string, message: string): void {
    const [id = '', endedAt = ''] = message.split(' ');
    // Whoever may publish there may write anything.
    if (/^\d{1,15}$/.test(endedAt)) onEnded(id, Number(endedAt));
  }

  /** Answers and what is told share one connection: once a ping is answered, all that was told before has come. */
  function heartbeat(): void {
    const sentAt = performance.now();
    if (sentAt - lastReplyAt > heartbeatTimeoutMs) {
      restart();
      return;
    }
    const pinged = client;
    if (subscription.since === null || isHeartbeatPending || pinged === undefined) return;
    isHeartbeatPending = true;
    pinged.ping().then(
      () => {
        if (client !== pinged) return;
        isHeartbeatPending = false;
        subscription.until = sentAt;
        lastReplyAt = performance.now();
      },
      () => {
        if (client === pinged) isHeartbeatPending = false;
      },
    );
  }

  return {
    subscription,
    close() {
      clearInterval(heartbeatTimer);
      const closing = client;
      client = undefined;
      closing?.disconnect();
    },
  };
}
