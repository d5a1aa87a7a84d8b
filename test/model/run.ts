import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { createRandom } from '../support/corpora/random.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';
import { createActing } from './clients/acting.ts';
import { judgeAtRest } from './clients/at-rest.ts';
import { createAuditReader, followAudit, readToEnd } from './clients/audit-reader.ts';
import { runClient } from './clients/client.ts';
import { catalogue, prepareWorld } from './clients/prepare.ts';
import { type ArrangementName, startArrangement } from './machine/arrangements.ts';
import { type ClockMaker, compileClocks } from './machine/clock.ts';
import { type Break, createGateway, type GatewayConfig, type ModelGateway } from './machine/gateway.ts';
import { type Nemesis, startNemesis } from './machine/nemesis.ts';
import { drawSkew, roundingMs, skewsMs } from './machine/skews.ts';
import { watchStalls } from './machine/stalls.ts';
import { type AuditEvent, auditProblems } from './promises/audit-order.ts';
import { Disturbances } from './promises/disturbances.ts';
import { describeViolation, type Violation } from './promises/history.ts';

/** How a run is done. */
export interface RunOptions {
  readonly arrangement: ArrangementName;
  readonly seed: number;
  readonly seconds: number;
  readonly gateways: number;
  /** How many processes serve in each of them; 1 by default. */
  readonly workers?: number;
  readonly clients: number;
  /** By how much promised times may be exceeded on a busy machine; 1: not at all. */
  readonly slowness: number;
  /** Which faults there are, by what they are called; all of them by default. */
  readonly faults?: RegExp;
  /** `sessions.reuse_grace`, ms; 2 s by default. */
  readonly graceMs?: number;
  /** What the last gateway breaks on purpose. */
  readonly broken?: Break;
}

/** What a run came to. */
export interface RunResult {
  readonly violations: readonly Violation[];
  readonly operations: number;
  /** How often each came with each status. */
  readonly counts: Readonly<Record<string, number>>;
  /** How often each fault came; 0: it is one of this arrangement. */
  readonly faults: Readonly<Record<string, number>>;
  readonly auditEvents: number;
}

const livenessMs = 2_000;
const staleMs = 4_000;

/** What no test reaches, and times short enough to be seen. */
const configOf = (graceMs: number) => ({
  scopes: catalogue,
  endpoints: { users: 'own' },
  login_throttle: { per_account_and_address: 1e6, per_account: 1e6, per_address: 1e6 },
  sessions: { reuse_grace: `${graceMs}ms`, stale_if_error: `${staleMs}ms` },
});

/** Plays a run; null: the stores can't be had, and the test says so. */
export async function playRun(t: Test, options: RunOptions): Promise<RunResult | null> {
  const { seed, slowness, workers = 1, graceMs = 2_000 } = options;
  const folder = makeTemporaryFolder('postern-model-');
  // Configurations and logs of the gateways are in it.
  if (process.env.POSTERN_MODEL_KEEP !== undefined) t.comment(`kept: ${folder}`);
  else t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  // PostgreSQL runs as another user, who has to read its clock.
  chmodSync(folder, 0o711);
  const clockFolder = join(folder, 'clocks');
  mkdirSync(clockFolder);
  const clocks = compileClocks(t, clockFolder);
  const arrangement = await startArrangement(t, options.arrangement, folder, {
    clocks,
    random: createRandom(seed, 6),
  });
  if (arrangement === null) return null;
  const stores = { ...arrangement.stores, sessions_liveness_age: `${livenessMs}ms` };
  const gateways = createGateways(t, options, folder, { ...configOf(graceMs), stores, workers }, clocks);
  // The first one makes the stores.
  await gateways[0]!.start();
  await Promise.all(gateways.slice(1).map((gateway) => gateway.start()));

  const startedMs = performance.now();
  const now = () => performance.now() - startedMs;
  const disturbances = new Disturbances(slowness);
  const stalls = watchStalls(disturbances, now);
  t.teardown(() => stalls.stop());
  let nemesis: Pick<Nemesis, 'clockError' | 'isKept'> = {
    clockError: () => ({ aheadMs: roundingMs, behindMs: roundingMs }),
    isKept: () => true,
  };
  const world = await prepareWorld(gateways, options.clients, {
    disturbances,
    now,
    graceMs,
    promises: { propagationMs: 1_000 * slowness, staleMs, tokenLifeMs: 9 * 60_000 },
    clockError: (...time) => nemesis.clockError(...time),
    isKept: (from, to) => nemesis.isKept(from, to),
  });
  const pauseMs = 3_500;
  const started = startNemesis(seed, {
    gateways,
    arrangement,
    disturbances,
    clocks,
    now,
    pauseMs,
    pattern: options.faults ?? /./,
  });
  nemesis = started;
  const endMs = now() + options.seconds * 1_000;
  const isOver = () => now() >= endMs;
  const random = createRandom(seed, 99);
  const reader = createAuditReader(world, random, world.feed, 'audit');
  const faults = (async () => {
    while (!isOver()) await sleep(50);
    started.stop();
    await started.done;
  })();
  // Clients go on until everything is well again.
  let isWell = false;
  const afterFaults = faults
    .then(() => sleep(3_000))
    .finally(() => {
      isWell = true;
    });
  const clients = Array.from({ length: options.clients }, (_, client) =>
    runClient(world, client, seed, () => isWell),
  );
  await Promise.all([afterFaults, ...clients, followAudit(reader, random, () => isWell)]);
  await judgeAtRest(world, (id) => createActing(world, { id, gateway: 0, random }, 0));
  await judgeAudit(world, reader, random);
  for (const gateway of gateways) judgeGateway(world, gateway);
  const { violations, counts } = world.history;
  return {
    violations,
    operations: [...counts.values()].reduce((sum, count) => sum + count, 0),
    counts: Object.fromEntries([...counts].toSorted()),
    faults: countFaults(started.kinds, disturbances),
    auditEvents: world.feed.length,
  };

  /** The feed to its end, once more from the beginning, and against what was asked for. */
  async function judgeAudit(world_: typeof world, first: typeof reader, by: typeof random): Promise<void> {
    const again: AuditEvent[] = [];
    const second = createAuditReader(world_, by, again, 'audit-again');
    if (!(await readToEnd(first)) || !(await readToEnd(second)))
      return world_.history.violated('the audit can not be read', now(), []);
    for (const problem of auditProblems(world_.feed, world_.expected))
      world_.history.violated(`audit: ${problem}`, now(), []);
    const ids = (feed: readonly AuditEvent[]) => feed.map(({ id }) => id).join('\n');
    if (ids(again.slice(0, world_.feed.length)) !== ids(world_.feed))
      world_.history.violated('audit: a second reading differs from the feed', now(), []);
  }

  function judgeGateway(world_: typeof world, gateway: ModelGateway): void {
    if (gateway.ownEnd !== null) world_.history.violated(gateway.ownEnd, now(), []);
    for (const line of gateway.alarms().slice(0, 5))
      world_.history.violated(`log of gateway ${gateway.index}: ${line}`, now(), []);
  }
}

function createGateways(
  t: Test,
  { seed, gateways, broken, arrangement }: RunOptions,
  folder: string,
  shared: GatewayConfig,
  clocks: ClockMaker,
): ModelGateway[] {
  const random = createRandom(seed, 5);
  return Array.from({ length: gateways }, (_, index) => {
    const skewMs = drawSkew(random, arrangement === 'sqlite' ? skewsMs.gateways : skewsMs.replicas);
    const clock = clocks?.(`gateway-${index}`, skewMs) ?? null;
    const isBroken = index === gateways - 1;
    const gateway = createGateway(index, folder, shared, { clock, ...(isBroken && { broken }) });
    t.teardown(() => gateway.kill());
    return gateway;
  });
}

function countFaults(kinds: readonly string[], { all }: Disturbances): Record<string, number> {
  return Object.fromEntries(
    kinds.map((kind) => [kind, all.filter((fault) => fault.kind.startsWith(kind)).length]),
  );
}

/** The first violations, as people read them. */
export function describeViolations(violations: readonly Violation[], most = 5): string {
  return violations.slice(0, most).map(describeViolation).join('\n\n');
}
