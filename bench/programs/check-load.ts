import { readFileSync } from 'node:fs';
import { ask, connectChecks, questionOf, subjectIn } from './check-client.ts';

// Asks for decisions as Envoy does by gRPC, so many at a time for so many seconds, with the credentials in turn; prints
// what came of it as JSON.

/** The task, in the file that the argument names. */
export interface CheckLoad {
  readonly port: number;
  readonly header: string;
  readonly values: readonly string[];
  /** Questions at a time. */
  readonly questions: number;
  readonly seconds: number;
}

/** What is printed. */
export interface CheckLoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that name nobody. */
  readonly refused: number;
}

/** As a proxy with as many threads would have. */
const connections = 4;

const task = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as CheckLoad;
const questions = task.values.map((value) => questionOf(task.header, value));
const sessions = await Promise.all(Array.from({ length: connections }, () => connectChecks(task.port)));
const latencies: number[] = [];
let turn = 0;
let refused = 0;
const started = performance.now();
const until = started + task.seconds * 1_000;

async function askOn(session: (typeof sessions)[number]): Promise<void> {
  while (performance.now() < until) {
    const at = performance.now();
    turn = (turn + 1) % questions.length;
    if (subjectIn(await ask(session, questions[turn]!)) === undefined) refused += 1;
    latencies.push(performance.now() - at);
  }
}

const asking = Array.from({ length: task.questions }, (_, index) => askOn(sessions[index % connections]!));
await Promise.all(asking);
const seconds = (performance.now() - started) / 1_000;
for (const session of sessions) session.close();
latencies.sort((a, b) => a - b);
const percentile = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? 0;
const result: CheckLoadResult = {
  requests: latencies.length,
  seconds,
  p50Ms: percentile(0.5),
  p99Ms: percentile(0.99),
  refused,
};
process.stdout.write(JSON.stringify(result));
