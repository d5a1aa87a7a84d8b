import { writeFileSync } from 'node:fs';
import { judge } from './bounds.ts';
import { describeMachine, type Pinning } from './machine.ts';
import { loadPeer } from './measure.ts';
import { type Options, parseOptions, usage } from './options.ts';
import { peers } from './peers/all.ts';
import { monotonicMicroseconds, renderProfile } from './profile.ts';
import { renderResults, renderTable, renderVerdicts } from './report.ts';
import { runRounds } from './rounds.ts';
import { createStage, type Stage } from './stage.ts';

const resultsFile = new URL('RESULTS.md', import.meta.url);
const profileWarmupSeconds = 6;

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
  const stage = await createStage(options.connections);
  try {
    if (options.profile !== undefined) return await profile(stage, options.profile, options.seconds);
    return await compare(stage, options);
  } finally {
    stage.clear();
  }
}

/** Measures the peers and reports; 1 when a row failed, or with `--check` a bound. */
async function compare(stage: Stage, options: Options): Promise<number> {
  const { only, rounds, seconds, connections } = options;
  const chosen = peers.filter((peer) => only === undefined || only.includes(peer.name));
  const date = new Date();
  const { rows, missing, failed } = await runRounds(stage, chosen, { rounds, seconds, say });
  const verdicts = judge(rows);
  if (rows.length > 0) say(`\n${renderTable(rows)}\n\n${renderVerdicts(verdicts)}`);

  if (failed.length > 0) {
    say(`\nfailed, so nothing is written: ${failed.join(', ')}`);
    return 1;
  }
  if (options.write) {
    const { generator } = stage.settings;
    const results = renderResults({
      date,
      machine: describeMachine(),
      pinning: describePinning(stage.pinning),
      generator: `${generator.name} ${generator.version()}`,
      rounds,
      seconds,
      connections,
      rows,
      verdicts,
      missing,
    });
    writeFileSync(resultsFile, results);
  }
  return options.check && verdicts.some((verdict) => !verdict.passed) ? 1 : 0;
}

/** Runs one peer under V8's profiler and tells where its CPU time goes. */
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
