import { writeFileSync } from 'node:fs';
import { type BodyRow, bodyBytes, measureBodies } from './bodies.ts';
import { judge } from './bounds.ts';
import { describeMachine, type Pinning } from './machine.ts';
import { loadPeer } from './measure.ts';
import { type Options, parseOptions, usage } from './options.ts';
import { peers } from './peers/all.ts';
import { monotonicMicroseconds, renderProfile } from './profile.ts';
import { renderBodyTable, renderResults, renderTable, renderVerdicts } from './report.ts';
import { type Outcome, runRounds } from './rounds.ts';
import { createStage, type Stage } from './stage.ts';

const resultsFile = new URL('RESULTS.md', import.meta.url);
const profileWarmupSeconds = 6;
const bodyRounds = 3;

process.exitCode = await main();

async function main(): Promise<number> {
  let options: Options;
  try {
    options = parseOptions(
      process.argv.slice(2),
      peers.map((peer) => peer.name),
    );
  } catch (error) {
    say(`${error instanceof Error ? error.message : error}\n${usage}`);
    return 2;
  }
  const { profile: profiled, connections, seconds } = options;
  if (profiled !== undefined)
    return onStage(createStage(connections, 'upstream'), (stage) => profile(stage, profiled, seconds));
  return compare(options);
}

async function onStage<T>(setting: Promise<Stage>, play: (stage: Stage) => Promise<T>): Promise<T> {
  const stage = await setting;
  try {
    return await play(stage);
  } finally {
    stage.clear();
  }
}

/** Measures the peers and reports; returns 1 if a row failed, or a checked bound is not held. */
async function compare(options: Options): Promise<number> {
  const { rounds, seconds, connections } = options;
  const date = new Date();
  const requests = options.bodies === true ? undefined : await compareRequests(options);
  const bodies = options.bodies === false ? undefined : await compareBodies(connections);
  const verdicts = judge({ rows: requests?.outcome.rows, bodies });
  if (requests !== undefined) say(`\n${renderTable(requests.outcome.rows)}`);
  if (bodies !== undefined) say(`\n${renderBodyTable(bodies)}`);
  say(`\n${renderVerdicts(verdicts)}`);

  const failed = requests?.outcome.failed ?? [];
  if (failed.length > 0) {
    say(`\nfailed, so nothing is written: ${failed.join(', ')}`);
    return 1;
  }
  if (options.write && requests !== undefined) {
    const { pinning, generator, outcome } = requests;
    const results = renderResults({
      date,
      machine: describeMachine(),
      pinning: describePinning(pinning),
      generator,
      rounds,
      seconds,
      connections,
      rows: outcome.rows,
      bodies: bodies ?? [],
      verdicts,
      missing: outcome.missing,
    });
    writeFileSync(resultsFile, results);
  }
  return options.check && verdicts.some((verdict) => !verdict.passed) ? 1 : 0;
}

interface ComparedRequests {
  readonly outcome: Outcome;
  readonly pinning: Pinning;
  /** Name and version. */
  readonly generator: string;
}

function compareRequests({ only, rounds, seconds, connections }: Options): Promise<ComparedRequests> {
  const chosen = peers.filter((peer) => only === undefined || only.includes(peer.name));
  return onStage(createStage(connections, 'upstream'), async (stage) => {
    const { generator } = stage.settings;
    return {
      outcome: await runRounds(stage, chosen, { rounds, seconds, say }),
      pinning: stage.pinning,
      generator: `${generator.name} ${generator.version()}`,
    };
  });
}

function compareBodies(connections: number): Promise<BodyRow[]> {
  const setting = createStage(connections, 'body-upstream', String(bodyBytes));
  return onStage(setting, (stage) => measureBodies(stage, bodyRounds, say));
}

/** Runs one peer under V8's profiler and reports where its CPU time goes. */
async function profile(stage: Stage, name: string, seconds: number): Promise<number> {
  const peer = peers.find((candidate) => candidate.name === name);
  if (peer?.version() === undefined) throw new Error(`${name} is not installed`);
  const running = await stage.start(peer, ['--cpu-prof', `--cpu-prof-dir=${stage.profileDirectory}`]);
  await loadPeer(running, stage.settings, profileWarmupSeconds);
  const from = monotonicMicroseconds();
  await loadPeer(running, stage.settings, seconds);
  const to = monotonicMicroseconds();
  await running.stop();
  say(renderProfile(stage.profileDirectory, { from, to }));
  return 0;
}

function describePinning({ proxy, load }: Pinning): string {
  return proxy === undefined
    ? 'not pinned'
    : `the proxy on CPU ${proxy}, load generator and upstream on CPU ${load}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
