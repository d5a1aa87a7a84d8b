import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { ApiRequest } from '../clients/api-client.ts';
import { judgeWithin, timed } from '../clients/timed.ts';
import { eventually } from '../eventually.ts';
import { isLong } from '../gateway/gateway-under-load.ts';
import { openStream } from './postgres-replicas.ts';
import {
  letRemember,
  mintElsewhere,
  mintFamily,
  type RecordsStage,
  type RecordsWay,
  requests,
  staleIfErrorMs,
} from './postgres-unavailable.ts';
import { readiness } from './redis-unavailable.ts';
import { judgeUnavailable } from './unavailable.ts';

const responseLimitMs = 2_000;
const backLimitMs = 2_000;
const floodSize = isLong ? 600 : 200;
/** The last notification may be that old. */
const notifiedAgoMs = 700;
/** How long a response may take after that, and how much later streams are checked. */
const askingMs = 1_100;
const sweepMs = 500;

/** Judges that a request is refused in time, with a status that allows a retry. */
export async function judgeRefused(
  t: Test,
  stage: RecordsStage,
  what: string,
  request: ApiRequest,
): Promise<void> {
  const { came, tookMs } = await timed(stage.gateway.api.send(request));
  judgeUnavailable(t, what, came);
  judgeWithin(t, what, tookMs, responseLimitMs);
}

/**
 * Judges that `/readyz` reports it: with the store unavailable it is ready for as long as credentials seen alive count.
 */
export async function judgeReadiness(
  t: Test,
  { gateway }: RecordsStage,
  { status: wanted, isThere }: { readonly status: 200 | 503; readonly isThere: boolean },
): Promise<void> {
  const sinceMs = performance.now();
  const { status, body } = await readiness(gateway);
  t.equal(status, wanted, '/readyz');
  t.match(body, {
    status: wanted === 200 ? 'ready' : 'not_ready',
    dependencies: { records: { ok: isThere } },
  });
  judgeWithin(t, '/readyz responds', performance.now() - sinceMs, responseLimitMs);
}

/** Judges that everything works within two seconds, without a restart. */
export async function judgeBack(
  t: Test,
  stage: RecordsStage,
  sinceMs: number,
  unseenKey: string,
): Promise<void> {
  const { gateway, bearer, key } = stage;
  const all: Record<string, ApiRequest> = {
    'a key': requests.use(key),
    'a key that was never seen': requests.use(unseenKey),
    'a sign-in': requests.login,
    'a creation': requests.creation(bearer, 'after'),
  };
  const good = Object.entries(all).map(async ([what, request]) => {
    await eventually(what, async () => (await gateway.api.send(request)).status < 300);
    judgeWithin(t, `${what} works again`, performance.now() - sinceMs, backLimitMs);
  });
  await Promise.all(good);
  await judgeReadiness(t, stage, { status: 200, isThere: true });
}

/**
 * A key that was seen alive is accepted for as long as it should be, and then refused; gives the slowest response, ms.
 */
async function judgeStale(t: Test, stage: RecordsStage, wentAtMs: number): Promise<void> {
  let slowestMs = 0;
  for (;;) {
    const sentAtMs = performance.now() - wentAtMs;
    const { came: response, tookMs } = await timed(stage.gateway.api.send(requests.use(stage.key)));
    slowestMs = Math.max(slowestMs, tookMs);
    if (response.status !== 200) {
      t.equal(response.status, 503);
      t.match(response.headers['retry-after'], /^[1-9]\d*$/);
      t.ok(
        sentAtMs > staleIfErrorMs - notifiedAgoMs,
        `a key in use is accepted for ${Math.round(sentAtMs)} ms`,
      );
      judgeWithin(t, 'and then refused', sentAtMs + tookMs, staleIfErrorMs + askingMs);
      t.comment(`a key in use was answered within ${Math.round(slowestMs)} ms`);
      return;
    }
    await sleep(20);
  }
}

/** Many requests at once are all answered, and soon. */
async function judgeFlood(t: Test, stage: RecordsStage, unseenKey: string): Promise<void> {
  const { gateway, bearer } = stage;
  const kinds = [requests.use(unseenKey), requests.login, requests.creation(bearer, 'flood')];
  const flood = Array.from({ length: floodSize }, (_, index) =>
    timed(gateway.api.send(kinds[index % kinds.length]!)),
  );
  const responses = await Promise.all(flood);
  t.strictSame([...new Set(responses.map(({ came }) => came.status))], [503], `${floodSize} at once`);
  judgeWithin(t, 'the last is answered', Math.max(...responses.map(({ tookMs }) => tookMs)), responseLimitMs);
}

/** A family of keys exists completely or not at all. `current` is the server that has the records now. */
async function judgeWhole(t: Test, current: RecordsStage['server'], familyId: string): Promise<void> {
  const [row] = await current.query<{ count: number }>(
    'SELECT count(*)::int FROM postern.api_keys WHERE id = $1 OR parent = $1',
    [familyId],
  );
  t.ok([0, 4].includes(row!.count), `${row!.count} of a family of 4`);
}

/** Makes PostgreSQL unavailable that way, and available again; judges the promises in order. */
export async function judgeOutage(
  t: Test,
  stage: RecordsStage,
  way: RecordsWay,
  current: () => RecordsStage['server'] = () => stage.server,
): Promise<void> {
  const { gateway, bearer, key } = stage;
  const { pid } = gateway;
  const unseenKey = await mintElsewhere(stage);
  const familyId = await mintFamily(stage);
  const stream = await openStream(gateway, `X-API-Key: ${key}`);
  await letRemember(stage);

  const wentAtMs = performance.now();
  await way.go(stage);
  const writes = async () => {
    await judgeRefused(t, stage, 'a creation', requests.creation(bearer, 'meanwhile'));
    await judgeRefused(t, stage, 'a deletion', requests.familyDeletion(bearer, familyId));
  };
  await Promise.all([
    judgeStale(t, stage, wentAtMs),
    writes(),
    sleep(600).then(writes),
    judgeRefused(t, stage, 'a sign-in', requests.login),
    judgeRefused(t, stage, 'a key that was never seen', requests.use(unseenKey)),
    judgeReadiness(t, stage, { status: 200, isThere: false }),
  ]);
  const streamedMs = (await stream.endedAtMs) - wentAtMs;
  t.ok(streamedMs > staleIfErrorMs - notifiedAgoMs, `a stream continues for ${Math.round(streamedMs)} ms`);
  judgeWithin(t, 'and then ends', streamedMs, staleIfErrorMs + askingMs + sweepMs);
  await judgeReadiness(t, stage, { status: 503, isThere: false });
  await judgeFlood(t, stage, unseenKey);

  await way.comeBack(stage);
  await judgeBack(t, stage, performance.now(), unseenKey);
  await judgeWhole(t, current(), familyId);
  t.equal(gateway.pid, pid, 'it is the same process');
}
