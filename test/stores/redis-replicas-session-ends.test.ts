import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import type { GatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { leeway, startReplicas } from '../support/gateway/replicas.ts';
import { respondWithoutEnd } from '../support/servers/event-stream.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';
import { closeCodeOf, openWebSocket, startWebSocketUpstream } from '../support/servers/web-sockets.ts';
import { type PushRelay, startPushRelay } from '../support/stores/push-relay.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

const { username, password } = administrator;
const rounds = isLong ? 40 : 3;
const timeout = 600_000;
t.setTimeout(timeout);

/** The state of the connection that notifies the other gateway, before a sign-out. */
const pushes: Readonly<Record<string, (relay: PushRelay) => void>> = {
  'is connected': () => {},
  'has its push connection cut': (relay) => relay.cut(),
  'has its push connection in a black hole': (relay) => relay.blackHole(),
};

interface Pair {
  /** Where the sessions sign out. */
  readonly one: GatewayProcess;
  /** Where they are in use. */
  readonly other: GatewayProcess;
  readonly relay: PushRelay;
}

async function startPair(t: Test): Promise<Pair> {
  const redis = await startRedis(t);
  const relay = await startPushRelay(t, redis);
  const sockets = await startWebSocketUpstream(t);
  const events = await startHttpUpstream(t, respondWithoutEnd);
  const [one, other] = await startReplicas(t, [redis.url, relay.url], {
    upstreams: { sockets: { url: sockets.url }, events: { url: events.url }, echo: { url: 'builtin:echo' } },
    routes: [
      { prefix: '/api/live', upstream: 'sockets' },
      { prefix: '/api/events', upstream: 'events' },
      { prefix: '/api', upstream: 'echo' },
    ],
  });
  return { one, other, relay };
}

/** Everything that a session may have in use at a gateway, and when each ends, by `performance.now()`. */
async function use({ port, api }: GatewayProcess, bearer: string) {
  const socket = await openWebSocket(port, '/api/live', { headers: { Authorization: `Bearer ${bearer}` } });
  const events = await connectRaw(port);
  events.write(`GET /api/events HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${bearer}\r\n\r\n`);
  await events.received('data: 1');
  const at = () => performance.now();
  const socketEnded = closeCodeOf(socket).then((code) => ({ code, at: at() }));
  const eventsEnded = events.closed.then(at);
  let isPolling = true;
  const refused = (async () => {
    while (isPolling) {
      // A request in progress when the session ends is aborted.
      const response = await api.send({ path: '/api/x', bearer }).catch(() => undefined);
      if (response !== undefined && response.status !== 200) return { status: response.status, at: at() };
      await sleep(20);
    }
    return { status: 200, at: at() };
  })();
  return {
    isOpen: () => socket.readyState === socket.OPEN,
    async close() {
      isPolling = false;
      await refused;
      socket.terminate();
      events.reset();
    },
    socketEnded,
    eventsEnded,
    refused,
  };
}

/** A gateway's metrics of notified session ends: how many, and their total age, in seconds. */
async function endingsSeen({ managementPort }: GatewayProcess) {
  const text = await (await fetch(`http://127.0.0.1:${managementPort}/metrics`)).text();
  const read = (name: string) =>
    Number(new RegExp(`^postern_revocation_seen_seconds_${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return { count: read('count'), seconds: read('sum') };
}

/** Signs users out at one gateway until the other is notified. */
async function isNotification({ one, other }: Pair): Promise<void> {
  const { count } = await endingsSeen(other);
  await eventually('an end is notified', async () => {
    const { accessToken } = await one.api.signIn(username, password);
    await one.api.send({ path: '/api/logout', bearer: accessToken });
    return (await endingsSeen(other)).count > count;
  });
}

t.test(
  'a session that signs out at one gateway is over at another within a second',
  { timeout },
  async (t) => {
    if (!requireRedis(t)) return;
    const pair = await startPair(t);
    const { one, other, relay } = pair;
    const { accessToken: spared } = await one.api.signIn(username, password);
    const sparedUse = await use(other, spared);
    for (const [name, befall] of Object.entries(pushes))
      await t.test(`the other gateway ${name}`, { timeout }, async (t) => {
        const longestMs = { bearer: 0, socket: 0, events: 0 };
        for (let round = 0; round < rounds; round++) {
          await isNotification(pair);
          const { accessToken } = await one.api.signIn(username, password);
          const used = await use(other, accessToken);
          // At any phase of the other gateway's intervals.
          await sleep(500 + Math.random() * 500);
          befall(relay);
          await sleep(round % 2 === 0 ? 0 : Math.random() * 1_000);
          const { status } = await one.api.send({ path: '/api/logout', bearer: accessToken });
          const sinceMs = performance.now();
          t.equal(status, 200);
          const [refused, socket, events] = await Promise.all([
            used.refused,
            used.socketEnded,
            used.eventsEnded,
          ]);
          t.same([refused.status, socket.code], [401, 1008]);
          longestMs.bearer = Math.max(longestMs.bearer, refused.at - sinceMs);
          longestMs.socket = Math.max(longestMs.socket, socket.at - sinceMs);
          longestMs.events = Math.max(longestMs.events, events - sinceMs);
          relay.restore();
        }
        t.comment(`${rounds} rounds, at most after these ms:`, longestMs);
        for (const [what, ms] of Object.entries(longestMs)) t.ok(ms < 1_000 * leeway, `${what}: ${ms} ms`);
      });
    t.ok(sparedUse.isOpen(), 'a session that was not ended continues');
    t.equal((await other.api.send({ path: '/api/x', bearer: spared })).status, 200);
    await sparedUse.close();
    const { count, seconds } = await endingsSeen(other);
    t.ok(count >= rounds, `${count} ends were notified`);
    t.ok(seconds / count < 0.1 * leeway, `after ${seconds / count} s on average`);
  },
);
