import { readFileSync, writeFileSync } from 'node:fs';
import { type BodyRow, bodyBytes, measureBodies } from './bodies.ts';
import { judge, type Measured } from './bounds.ts';
import { digests, replaceDigest } from './digest.ts';
import { type Field, startField } from './field.ts';
import { measureFootprint, neededDescriptors } from './footprint.ts';
import { measureHalfLoad } from './half-load.ts';
import { pacedLoadVersion } from './load/paced-load.ts';
import { describeMachine, descriptorLimit, type Pinning } from './machine.ts';
import { loadPeer } from './measure.ts';
import { measureOffered } from './offered.ts';
import { type Options, ownPeersParts, parseOptions, usage } from './options.ts';
import { peers } from './peers/all.ts';
import { deciders } from './peers/deciders.ts';
import { picturesOf } from './pictures.ts';
import { monotonicMicroseconds, renderProfile } from './profile.ts';
import { type Report, renderParts, renderResults } from './report.ts';
import { measureSaturation } from './saturation.ts';
import { createStage, type Stage } from './stage.ts';
import { measureUpkeep, type Upkeep } from './upkeep/measure.ts';
import { subjects } from './upkeep/subjects.ts';
import { renderUpkeep, replaceUpkeep } from './upkeep/table.ts';
import { renderOutcome, renderVerdicts } from './verdicts.ts';

const profileWarmupSeconds = 6;
/** Maximum number of rounds of starts with 10,000 idle connections, which vary little and take long. */
const footprintRounds = 3;

process.exitCode = await main();

async function main(): Promise<number> {
  let options: Options;
  try {
    options = parseOptions(
      process.argv.slice(2),
      [...peers, ...subjects.map(({ peer }) => peer)].map((peer) => peer.name),
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
  const compared = await onStage(createStage(connections, 'upstream'), (stage) =>
    compareRequests(stage, options),
  );
  const upkeep = options.parts.has('upkeep') ? await compareUpkeep(options) : undefined;
  const decided = options.parts.has('decisions')
    ? await onStage(createStage(connections, 'upstream'), (stage) => compareDecisions(stage, options))
    : undefined;
  const bodies = options.parts.has('bodies') ? await compareBodies(connections, rounds) : undefined;
  const measured = { ...compared.measured, upkeep, decisions: decided?.rows, bodies: bodies?.rows };
  const verdicts = judge(measured);
  const failed = [
    ...compared.failed,
    ...(upkeep?.failed ?? []),
    ...(decided?.failed ?? []),
    ...(bodies?.failed ?? []),
  ];
  say(`\n${renderParts(measured, compared.missing)}\n\n${renderVerdicts(verdicts)}`);
  say(`\n${renderOutcome(verdicts, failed, rounds)}`);

  const isUpkeepAlone = options.parts.size === 1 && upkeep !== undefined;
  if (options.write && isUpkeepAlone) {
    writeUpkeep(upkeep, ['bench/RESULTS.md', 'docs/limits.md']);
    writeDigests();
  } else if (options.write)
    write({
      ...compared,
      failed,
      peers: [...compared.peers, ...(decided?.peers ?? [])],
      measured,
      date,
      machine: describeMachine(),
      rounds,
      seconds,
      connections,
      verdicts,
    });
  const isBroken = verdicts.some((verdict) => !verdict.passed);
  return failed.length > 0 || (options.check && isBroken) ? 1 : 0;
}

function write(report: Report): void {
  writeFileSync(new URL('RESULTS.md', import.meta.url), renderResults(report));
  for (const [name, picture] of picturesOf(report.measured))
    writeFileSync(new URL(`../docs/images/${name}`, import.meta.url), picture);
  if (report.measured.upkeep !== undefined) writeUpkeep(report.measured.upkeep, ['docs/limits.md']);
  writeDigests();
}

/** Puts the figures of RESULTS.md into the documents that show some of them. */
function writeDigests(): void {
  const results = readFileSync(new URL('RESULTS.md', import.meta.url), 'utf8');
  for (const { file, render } of digests) {
    const document = new URL(`../${file}`, import.meta.url);
    writeFileSync(document, replaceDigest(readFileSync(document, 'utf8'), render(results)));
  }
}

/** Puts the table of upkeep into documents that have its markers. */
function writeUpkeep(upkeep: Upkeep, documents: readonly string[]): void {
  for (const name of documents) {
    const document = new URL(`../${name}`, import.meta.url);
    writeFileSync(document, replaceUpkeep(readFileSync(document, 'utf8'), renderUpkeep(upkeep)));
  }
}

function compareUpkeep({ upkeep: settings, rounds, only, connections }: Options): Promise<Upkeep> {
  const canPace = pacedLoadVersion() !== undefined;
  return measureUpkeep({
    ...{ settings, rounds, canPace, only, say },
    onStage: (play) => onStage(createStage(connections, 'upstream'), play),
  });
}

type Compared = Pick<Report, 'peers' | 'missing' | 'failed' | 'pinning' | 'generator'> & {
  readonly measured: Omit<Measured, 'upkeep' | 'decisions' | 'bodies'>;
};

async function compareRequests(stage: Stage, options: Options): Promise<Compared> {
  const { only, parts } = options;
  const chosen = peers.filter((peer) => only === undefined || only.includes(peer.name));
  const needsPeers = [...parts].some((part) => !ownPeersParts.has(part));
  const field = await startField(stage, needsPeers ? chosen : [], say);
  const measured = await measureParts(stage, field, options);
  await field.stop();
  const { generator } = stage.settings;
  return {
    measured,
    peers: field.contestants(),
    missing: field.missing,
    failed: [...field.failed],
    pinning: describePinning(stage.pinning),
    generator: `${generator.name} ${generator.version()}`,
  };
}

async function measureParts(stage: Stage, field: Field, { parts, rounds, seconds }: Options) {
  const settings = { rounds, seconds, say };
  // Without it, those parts have no rows, and their bounds count as not held.
  const canPace = pacedLoadVersion() !== undefined;
  const rowsAtRates = <T>(measure: () => Promise<T[]>) => {
    if (canPace) return measure();
    say(
      'not measured: bench/peers/install.sh has not built paced-load, which sends requests at a constant rate',
    );
    return [];
  };
  // Half load is half of what saturates.
  const needsSaturation = parts.has('saturation') || parts.has('half-load');
  const saturation = needsSaturation ? await measureSaturation(stage, field, settings) : undefined;
  const offered = parts.has('offered')
    ? await rowsAtRates(() => measureOffered(stage, field, settings))
    : undefined;
  const rates = new Map(saturation?.map(({ name, requestsPerSecond }) => [name, requestsPerSecond]));
  const halfLoad = parts.has('half-load')
    ? await rowsAtRates(() => measureHalfLoad(stage, field, rates, settings))
    : undefined;
  // Last, since it restarts the peers, which are cold afterwards.
  const withMemory = parts.has('memory') && descriptorLimit() >= neededDescriptors;
  if (withMemory !== parts.has('memory'))
    say(`memory is not measured: a process may open fewer than ${neededDescriptors} files`);
  const footprint =
    parts.has('memory') || parts.has('start')
      ? await measureFootprint(field, { ...settings, rounds: Math.min(rounds, footprintRounds) }, withMemory)
      : undefined;
  return { saturation, offered, halfLoad, footprint };
}

async function compareDecisions(stage: Stage, { rounds, seconds }: Options) {
  const field = await startField(stage, deciders, say);
  const rows = await measureSaturation(stage, field, { rounds, seconds, say });
  const peers = field.contestants();
  await field.stop();
  return { rows, peers, failed: field.failed };
}

/** Without rows if it fails, so that the other parts are still reported. */
async function compareBodies(
  connections: number,
  rounds: number,
): Promise<{ rows: BodyRow[]; failed: string[] }> {
  const setting = createStage(connections, 'body-upstream', String(bodyBytes));
  try {
    return { rows: await onStage(setting, (stage) => measureBodies(stage, rounds, say)), failed: [] };
  } catch (error) {
    say(`bodies FAILED: ${error instanceof Error ? error.message : error}`);
    return { rows: [], failed: ['bodies'] };
  }
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
