import { setTimeout as sleep } from 'node:timers/promises';
import { type Field, startField } from '../field.ts';
import { firstSuccess } from '../first-success.ts';
import { pacePeer } from '../paced.ts';
import type { RunningPeer } from '../peers/peer.ts';
import { median } from '../rows.ts';
import type { Stage } from '../stage.ts';
import { measureInstances, type SideBySide } from './instances.ts';
import { type Memory, type Rate, rateBetween, readActivity, readMemory } from './reading.ts';
import { loadPerSecond, type UpkeepSettings } from './settings.ts';
import { type Subject, subjects } from './subjects.ts';

/** What it costs to have a row at all. */
export interface UpkeepRow {
  readonly name: string;
  /** From the start to the first 200: CPU time of all processes, and time; medians over the rounds, as memory after it. */
  readonly startCpuMs: number;
  readonly startMs: number;
  readonly afterStart: Memory;
  readonly afterIdle: Memory;
  /** After the load and the long idle time; undefined where nothing can send the load. */
  readonly afterLoad: Memory | undefined;
  /** At the end of the long idle time. */
  readonly idle: Rate | undefined;
}

/** The results of the part. */
export interface Upkeep {
  /** When the measurement began. */
  readonly date: Date;
  readonly settings: UpkeepSettings;
  readonly rows: readonly UpkeepRow[];
  /** Undefined if it failed, or Postern is not built. */
  readonly sideBySide: SideBySide | undefined;
  readonly missing: readonly string[];
  readonly failed: readonly string[];
}

interface Start {
  readonly cpuMs: number;
  readonly ms: number;
  readonly memory: Memory;
}

/** The activity is read over the end of the long idle time: at most so many seconds. */
const activitySeconds = 60;

/** What is asked of a run. */
export interface UpkeepRun {
  readonly settings: UpkeepSettings;
  /** How often each row starts. */
  readonly rounds: number;
  /** True if paced-load is there, which sends the load. */
  readonly canPace: boolean;
  /** Rows to measure; undefined: all, and the instances side by side. */
  readonly only: readonly string[] | undefined;
  readonly say: (line: string) => void;
  /** Plays on a stage of its own, in whose folder nothing has run before. */
  readonly onStage: <T>(play: (stage: Stage) => Promise<T>) => Promise<T>;
}

/** Measures each row on its own until it has been idle once; then all are loaded in turn and idle together. */
export async function measureUpkeep(run: UpkeepRun): Promise<Upkeep> {
  const { settings, only, onStage } = run;
  const date = new Date();
  const chosen = subjects.filter(({ peer }) => only === undefined || only.includes(peer.name));
  const { rows, missing, failed } = await onStage((stage) => measureStarts(stage, run, chosen));
  const later = await onStage((stage) => measureLater(stage, run, rows));
  for (const name of later.failed) failed.add(name);
  const sideBySide =
    only === undefined ? await onStage((stage) => trySideBySide(stage, run, failed)) : undefined;
  return {
    date,
    settings,
    rows: [...rows.values()].map((row) => ({
      ...row,
      afterLoad: later.memory.get(row.name),
      idle: later.idle.get(row.name),
    })),
    sideBySide,
    missing,
    failed: [...failed],
  };
}

async function measureStarts(stage: Stage, run: UpkeepRun, chosen: readonly Subject[]) {
  const rows = new Map<string, Omit<UpkeepRow, 'afterLoad' | 'idle'>>();
  const missing: string[] = [];
  const failed = new Set<string>();
  for (const { peer, use } of chosen) {
    const field = await startField(stage, [peer], run.say);
    await field.inTurn(async ({ name, running }) => {
      rows.set(name, { name, ...(await measureStart(running, run, use)) });
    });
    await field.stop();
    missing.push(...field.missing);
    for (const name of field.failed) failed.add(name);
  }
  return { rows, missing, failed };
}

async function measureStart(
  running: RunningPeer,
  { settings, rounds, say }: UpkeepRun,
  use: ((running: RunningPeer) => Promise<void>) | undefined,
) {
  const starts: Start[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = await running.restart();
    const ms = (await firstSuccess(running)) - startedAt;
    const pids = running.pids();
    starts.push({ cpuMs: readActivity(pids).cpuMs, ms, memory: readMemory(pids) });
  }
  await use?.(running);
  await sleep(settings.idleSeconds * 1_000);
  const afterIdle = readMemory(running.pids());
  const middle = (figure: (start: Start) => number) => median(starts.map(figure));
  const row = {
    startCpuMs: middle(({ cpuMs }) => cpuMs),
    startMs: middle(({ ms }) => ms),
    afterStart: {
      privateMiB: middle(({ memory }) => memory.privateMiB),
      proportionalMiB: middle(({ memory }) => memory.proportionalMiB),
    },
    afterIdle,
  };
  say(
    `started with ${row.startCpuMs.toFixed(0)} ms of CPU, ${row.afterStart.privateMiB.toFixed(1)} MiB, ${afterIdle.privateMiB.toFixed(1)} MiB idle`,
  );
  return row;
}

async function measureLater(stage: Stage, run: UpkeepRun, rows: ReadonlyMap<string, unknown>) {
  const { settings, canPace, say } = run;
  const memory = new Map<string, Memory>();
  const idle = new Map<string, Rate>();
  const peers = subjects.flatMap(({ peer }) => (rows.has(peer.name) && canPace ? [peer] : []));
  const uses = new Map(subjects.map(({ peer, use }) => [peer.name, use]));
  const field: Field = await startField(stage, peers, say);
  await field.inTurn(async ({ name, running }) => {
    // Afresh: to mint credentials is no part of it.
    await running.restart();
    await firstSuccess(running);
    await uses.get(name)?.(running);
    await pacePeer(running, stage.settings, loadPerSecond, settings.loadSeconds);
    say(`${name}: loaded for ${settings.loadSeconds} s`);
  });
  const watchedMs = Math.min(settings.laterSeconds, activitySeconds) * 1_000;
  await sleep(settings.laterSeconds * 1_000 - watchedMs);
  const before = new Map(
    field.contestants().map(({ name, running }) => [name, readActivity(running.pids())]),
  );
  await sleep(watchedMs);
  await field.inTurn(async ({ name, running }) => {
    const from = before.get(name);
    if (from !== undefined) idle.set(name, rateBetween(from, readActivity(running.pids())));
    memory.set(name, readMemory(running.pids()));
  });
  await field.stop();
  return { memory, idle, failed: field.failed };
}

async function trySideBySide(
  stage: Stage,
  { settings, say }: UpkeepRun,
  failed: Set<string>,
): Promise<SideBySide | undefined> {
  try {
    return await measureInstances(stage, settings, say);
  } catch (error) {
    failed.add('instances side by side');
    say(`instances side by side FAILED: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}
