import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pythonTool, runTool } from './client-tools.ts';

/** What a check of Schemathesis objects to: one for each problem of a 422. */
export interface Finding {
  readonly check: string;
  /** Method and path template. */
  readonly operation: string;
  readonly status: number;
  /** The code of the refusal or, of a 422, the field and the type of one problem. */
  readonly problem?: string;
  /** The path and query as sent; not the method. */
  readonly request: string;
}

/** A class of findings that are no fault, and why. */
export interface KnownFailure extends Omit<Finding, 'request'> {
  /** A regular expression that the request has to match. */
  readonly request?: string;
  readonly reason: string;
}

/** What a run found in how many cases; `printed` is for people. */
export interface Run {
  readonly findings: readonly Finding[];
  readonly cases: number;
  readonly printed: string;
}

/** The list beside this file. */
export function readKnownFailures(): KnownFailure[] {
  const lines = readFileSync(join(import.meta.dirname, 'known-failures.jsonl'), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** Whether the finding is of that class; a `*` in its operation stands for one segment of the path. */
export function isOf(known: KnownFailure, finding: Finding): boolean {
  return (
    known.check === finding.check &&
    known.status === finding.status &&
    matchesOperation(known.operation, finding.operation) &&
    (known.problem === undefined || known.problem === finding.problem) &&
    (known.request === undefined || new RegExp(known.request).test(finding.request))
  );
}

function matchesOperation(pattern: string, operation: string): boolean {
  const segments = operation.split('/');
  const wanted = pattern.split('/');
  return wanted.length === segments.length && wanted.every((one, at) => one === '*' || one === segments[at]);
}

/** Runs every check against the gateway at `url`. The report goes into `folder`. */
export async function runSchemathesis(options: {
  readonly document: string;
  readonly folder: string;
  readonly url: string;
  readonly user: { readonly username: string; readonly password: string };
  readonly seed: number;
}): Promise<Run> {
  const { document, folder, url, user, seed } = options;
  const report = join(folder, 'report');
  const { printed } = await runTool(
    pythonTool('schemathesis'),
    [
      ...['run', document, '--url', url, '--checks', 'all', '--max-examples', '100', '--seed', String(seed)],
      ...['--continue-on-failure', '--no-shrink', '--report', 'ndjson', '--report-dir', report],
    ],
    {
      cwd: folder,
      env: {
        SCHEMATHESIS_HOOKS: join(import.meta.dirname, 'programs/schemathesis_hooks.py'),
        GATEWAY: url,
        GATEWAY_USER: user.username,
        GATEWAY_PASSWORD: user.password,
      },
    },
  );
  const events = globSync(join(report, '*.ndjson')).flatMap((file) =>
    readFileSync(file, 'utf8').trim().split('\n'),
  );
  const cases = Number(/(\d+) generated/.exec(printed)?.[1] ?? 0);
  return { findings: events.flatMap((line) => findingsOf(JSON.parse(line))), cases, printed };
}

interface Recorder {
  readonly cases: Readonly<
    Record<string, { readonly value: { readonly method: string; readonly path: string } }>
  >;
  readonly checks: Readonly<Record<string, readonly { readonly name: string; readonly status: string }[]>>;
  readonly interactions: Readonly<Record<string, Interaction>>;
}

interface Interaction {
  readonly request: { readonly method: string; readonly uri: string };
  readonly response: { readonly status_code: number; readonly content?: { readonly $base64: string } | null };
}

function findingsOf(event: { readonly ScenarioFinished?: { readonly recorder: Recorder } }): Finding[] {
  const { cases = {}, checks = {}, interactions = {} } = event.ScenarioFinished?.recorder ?? {};
  return Object.entries(checks).flatMap(([id, ofCase]) => {
    const { method, path } = cases[id]!.value;
    return ofCase
      .filter(({ status }) => status === 'failure')
      .flatMap(({ name }) => findingsOfCheck(name, `${method} ${path}`, interactions[id]));
  });
}

/** Without a response there is one, too: a connection that broke off. */
function findingsOfCheck(check: string, operation: string, interaction: Interaction | undefined): Finding[] {
  if (interaction === undefined) return [{ check, operation, status: 0, request: '' }];
  const { request, response } = interaction;
  const { pathname, search } = new URL(request.uri);
  const finding = { check, operation, status: response.status_code, request: pathname + search };
  const problems = problemsOf(response);
  return problems.length === 0 ? [finding] : problems.map((problem) => ({ ...finding, problem }));
}

function problemsOf({ status_code: status, content }: Interaction['response']): string[] {
  if (status < 400) return [];
  const { code, detail } = JSON.parse(Buffer.from(content?.$base64 ?? 'e30=', 'base64').toString());
  if (!Array.isArray(detail)) return [code];
  // A list's items are all alike: their positions say nothing.
  return detail.map(
    ({ loc, type }) =>
      `${loc
        .slice(1)
        .filter((part: unknown) => typeof part === 'string')
        .join('.')} ${type}`,
  );
}
