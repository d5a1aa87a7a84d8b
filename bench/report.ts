import { bodyBytes } from './bodies.ts';
import type { Measured, Verdict } from './bounds.ts';
import type { Contestant } from './field.ts';
import { idleConnections } from './footprint.ts';
import { mostPerSecond } from './half-load.ts';
import { fastest, reference } from './peers/all.ts';
import {
  renderBodies,
  renderDecisions,
  renderFootprint,
  renderHalfLoad,
  renderOffered,
  renderSaturation,
} from './tables.ts';
import { subjects } from './upkeep/subjects.ts';
import { markers, renderUpkeep } from './upkeep/table.ts';
import { renderOutcome, renderVerdicts } from './verdicts.ts';

/** A run, as it is reported. */
export interface Report {
  readonly date: Date;
  readonly machine: string;
  /** How processes were pinned, in words. */
  readonly pinning: string;
  /** Name and version of the load generator at saturation. */
  readonly generator: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly peers: readonly Pick<Contestant, 'name' | 'description' | 'version'>[];
  readonly measured: Measured;
  readonly verdicts: readonly Verdict[];
  /** Peers that were to run and are not installed here. */
  readonly missing: readonly string[];
  /** Peers that did not start, refused a request or broke. */
  readonly failed: readonly string[];
}

/** Each part's table under a line that says what it is, for the parts that were measured. */
export function renderParts(
  { saturation, offered, halfLoad, footprint, upkeep, decisions, bodies }: Measured,
  missing: readonly string[],
): string {
  const sections = [
    saturation &&
      `At saturation: as many requests as each row takes.\n\n${renderSaturation(saturation, missing)}`,
    offered &&
      `Equal offered load: requests at even intervals, whatever the responses do, so that a proxy that is faster doesn't save
wake-ups by having more to do; latency runs from when a request was due. A row that can't take a load says what it takes.

${renderOffered(offered, missing)}`,
    halfLoad &&
      `Latency added at half load: at half the rate of each row's saturation, but at most ${mostPerSecond.toLocaleString('en')}/s, over the
upstream itself at that rate, and what ${fastest} adds at that very rate. Below zero: less than the tail of the upstream varies.

${renderHalfLoad(halfLoad, missing)}`,
    footprint &&
      `Start: from the process to its first 200 (Postern from its TypeScript sources), three rounds at most. Memory, what processes
share counted once: after that 200, and with ${idleConnections.toLocaleString('en')} idle connections that have each had a response.

${renderFootprint(footprint, missing)}`,
    upkeep &&
      `Upkeep: what it costs to have a row at all.

${markers.begin}
${renderUpkeep(upkeep)}
${markers.end}`,
    decisions &&
      `Decisions: who decides for other proxies, asked directly, as many times as each row takes.

${renderDecisions(decisions)}`,
    bodies &&
      `Large bodies: ${bodyBytes / 2 ** 20} MiB each, four at a time, with a length, over kept connections.

${renderBodies(bodies)}`,
  ];
  return sections.filter((section) => section !== undefined).join('\n\n');
}

/** The text of RESULTS.md. */
export function renderResults(report: Report): string {
  const { measured, verdicts, missing, failed, generator, peers } = report;
  return `# Benchmark results

The last run of \`npm run bench\`, which writes this file. Each row is one proxy in front of the same upstream, which
answers 1 KiB of JSON; figures are medians of ${report.rounds} interleaved rounds of ${report.seconds} s on warmed-up processes.
CPU is user and system time of every process and thread of the row, read around the very window whose requests are
counted; peak RSS is the highest since start. Ratios are to ${reference} (ref.) and to ${fastest} (nginx); those of CPU are
the median of each round's own ratio, whose windows lie close to each other. Before it is measured, each row but ${reference}
has refused a bad credential, and told the upstream, or the proxy that asked, who sent a good one, whatever that client
claimed.

${renderOutcome(verdicts, failed, report.rounds)}

- Date: ${report.date.toISOString()}
- Machine: ${report.machine}
- CPUs: ${report.pinning}
- Node ${process.versions.node} for every row made of it
- Load: ${generator}, and bench/programs/paced-load at constant rates; ${report.connections} connections, 1,000 distinct credentials in turn
- Not installed here: ${missing.length === 0 ? 'nothing' : missing.join(', ')}

${renderParts(measured, missing)}

What each row does for a request (only Postern writes an access log):

${peers.map(({ name, version, description }) => `- ${name} (${version}): ${description}`).join('\n')}

${renderSubjects(measured)}Bounds, which \`npm run bench\` enforces:

${renderVerdicts(verdicts)}
`;
}

function renderSubjects({ upkeep }: Measured): string {
  if (upkeep === undefined) return '';
  const lines = subjects.map(({ peer }) => `- ${peer.name}: ${peer.description}`);
  return `Rows of upkeep:\n\n${lines.join('\n')}\n\n`;
}
