import type { Redis } from 'ioredis';
import type { Notifications } from '../remote/notified-cache.ts';
import { UnexpectedReply } from './resp.ts';

export interface SessionEndsOptions {
  /** Opens a dedicated client; undefined while no node is known at which to subscribe. */
  readonly open: () => Redis | undefined;
  readonly channel: string;
  /** Called when a session has ended, at `endedAt` (epoch ms by the store's clock). */
  readonly onEnded: (id: string, endedAt: number) => void;
  /** Called with the reason when the server refuses the subscription, or sends an unexpected reply. */
  readonly onNotificationsLost: (reason: string) => void;
}

/** Interval at which it is verified that every notification has been received, ms. */
const heartbeatIntervalMs = 250;
/** Time without a response after which the connection is replaced, ms. */
const heartbeatTimeoutMs = 1_000;

/** Notifications of ended sessions, over a subscription that is renewed after every lost connection. */
export class SessionEnds implements Notifications {
  notifiedSince = Number.POSITIVE_INFINITY;
  notifiedUntil = 0;
  readonly #options: SessionEndsOptions;
  readonly #heartbeatTimer: NodeJS.Timeout;
  #client: Redis | undefined;
  #lastReplyAt = performance.now();
  #isSubscribed = false;
  #isHeartbeatPending = false;
  #areNotificationsLost = false;

  constructor(options: SessionEndsOptions) {
    this.#options = options;
    this.#heartbeatTimer = setInterval(() => this.#heartbeat(), heartbeatIntervalMs);
    this.#heartbeatTimer.unref();
    this.#restart();
  }

  close(): void {
    clearInterval(this.#heartbeatTimer);
    const closing = this.#client;
    this.#client = undefined;
    closing?.disconnect();
  }

  #restart(): void {
    this.#client?.disconnect();
    this.#isSubscribed = false;
    this.#isHeartbeatPending = false;
    this.#lastReplyAt = performance.now();
    try {
      this.#client = this.#options.open();
    } catch {
      // Perhaps a certificate file is just being replaced: a later heartbeat tries again.
      this.#client = undefined;
    }
    if (this.#client !== undefined) this.#attach(this.#client);
  }

  #attach(client: Redis): void {
    // Any other error is reported by the connection for commands.
    client.on('error', (error: Error) => {
      if (error instanceof UnexpectedReply) this.#reportNotificationsLost(error);
    });
    client.on('message', (_channel: string, message: string) => this.#onMessage(message));
    client.on('close', () => {
      if (this.#client === client) this.#isSubscribed = false;
    });
    client.on('ready', () => {
      client.subscribe(this.#options.channel).then(
        () => {
          if (this.#client === client) this.#onSubscribed();
        },
        (error: Error) => {
          if (error.name === 'ReplyError') this.#reportNotificationsLost(error);
        },
      );
    });
  }

  /** Notes that the results of queries sent from now on are corrected by notifications. */
  #onSubscribed(): void {
    this.#areNotificationsLost = false;
    this.#lastReplyAt = performance.now();
    this.#isSubscribed = true;
    this.notifiedSince = this.#lastReplyAt;
    this.notifiedUntil = this.#lastReplyAt;
  }

  #reportNotificationsLost({ message }: Error): void {
    if (this.#areNotificationsLost) return;
    this.#areNotificationsLost = true;
    this.#options.onNotificationsLost(message);
  }

  #onMessage(message: string): void {
    const [id = '', endedAt = ''] = message.split(' ');
    // Any client that may publish on the channel may send anything.
    if (/^\d{1,15}$/.test(endedAt)) this.#options.onEnded(id, Number(endedAt));
  }

  /** Sends a ping, or replaces a silent connection. When the reply arrives, every notification sent before it has arrived. */
  #heartbeat(): void {
    const sentAt = performance.now();
    if (sentAt - this.#lastReplyAt > heartbeatTimeoutMs) {
      this.#restart();
      return;
    }
    const pinged = this.#client;
    if (!this.#isSubscribed || this.#isHeartbeatPending || pinged === undefined) return;
    this.#isHeartbeatPending = true;
    pinged.ping().then(
      () => {
        if (this.#client !== pinged) return;
        this.#isHeartbeatPending = false;
        this.notifiedUntil = sentAt;
        this.#lastReplyAt = performance.now();
      },
      () => {
        if (this.#client === pinged) this.#isHeartbeatPending = false;
      },
    );
  }
}
