import { Pool } from 'undici';
import type { GatewayProcess } from '../gateway/gateway-process.ts';

/** What a request is made with. */
export type InUse = { readonly apiKey: string } | { readonly bearer: string };

/** A key, or an access token, under load, and the last request with it that was let in, by `performance.now()`. */
export interface KeyInUse {
  readonly credential: InUse;
  /** When it was sent, and when its response came. */
  readonly lastSentMs: number;
  readonly lastCameMs: number;
  /** When the last one was sent to each gateway, in their order. */
  readonly lastSentToMs: readonly number[];
  /** How many requests were not answered 200. */
  readonly failed: number;
}

/** Requests at a steady rate, with every key or token in turn, at every gateway in turn. */
export interface KeyLoad {
  /** Uses a key from now on; resolves once every gateway has let it in. */
  add(key: string | InUse): Promise<KeyInUse>;
  remove(key: KeyInUse): void;
  /** Answers so far by their status, and how many requests got none. */
  readonly counts: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

interface Used {
  readonly credential: InUse;
  readonly headers: Record<string, string>;
  lastSentMs: number;
  lastCameMs: number;
  readonly lastSentToMs: number[];
  failed: number;
  readonly letInBy: Set<Pool>;
  readonly onAll: () => void;
}

const tickMs = 5;
const connections = 16;
/** A machine that can't keep up is not given ever more to do. */
const mostInFlight = 300;

/** Starts it; there are no requests as long as there is no key. */
export function startKeyLoad(gateways: readonly GatewayProcess[], perSecond: number): KeyLoad {
  const pools = gateways.map(({ port }) => new Pool(`http://127.0.0.1:${port}`, { connections }));
  const keys: Used[] = [];
  const counts: Record<string, number> = {};
  let sent = 0;
  let due = 0;
  let inFlight = 0;
  let lastTickMs = performance.now();

  async function send(pool: Pool, used: Used): Promise<void> {
    inFlight += 1;
    const sentMs = performance.now();
    const status = await pool
      .request({ path: '/api/store/x', method: 'GET', headers: used.headers })
      .then(async ({ statusCode, body }) => {
        await body.dump();
        return statusCode;
      })
      .catch(() => 'none');
    inFlight -= 1;
    counts[status] = (counts[status] ?? 0) + 1;
    if (status !== 200) {
      used.failed += 1;
      return;
    }
    used.lastSentMs = Math.max(used.lastSentMs, sentMs);
    used.lastCameMs = performance.now();
    const place = pools.indexOf(pool);
    used.lastSentToMs[place] = Math.max(used.lastSentToMs[place]!, sentMs);
    used.letInBy.add(pool);
    if (used.letInBy.size === pools.length) used.onAll();
  }

  const timer = setInterval(() => {
    const nowMs = performance.now();
    due += ((nowMs - lastTickMs) * perSecond) / 1_000;
    lastTickMs = nowMs;
    for (; due >= 1; due -= 1) {
      // Every key meets every gateway, however many there are of both.
      const used = keys[Math.floor(sent / pools.length) % keys.length];
      if (used === undefined || inFlight >= mostInFlight) continue;
      void send(pools[sent % pools.length]!, used);
      sent += 1;
    }
  }, tickMs);

  return {
    counts,
    async add(key) {
      const { promise, resolve: onAll } = Promise.withResolvers<void>();
      const credential = typeof key === 'string' ? { apiKey: key } : key;
      const used: Used = {
        credential,
        headers: headersOf(credential),
        lastSentMs: 0,
        lastCameMs: 0,
        lastSentToMs: pools.map(() => 0),
        failed: 0,
        letInBy: new Set(),
        onAll,
      };
      keys.push(used);
      await promise;
      return used;
    },
    remove: (key) => void keys.splice(keys.indexOf(key as Used), 1),
    async stop() {
      clearInterval(timer);
      await Promise.all(pools.map((pool) => pool.close()));
    },
  };
}

function headersOf(credential: InUse): Record<string, string> {
  return 'apiKey' in credential
    ? { 'x-api-key': credential.apiKey }
    : { authorization: `Bearer ${credential.bearer}` };
}
