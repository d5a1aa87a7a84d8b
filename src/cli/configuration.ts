import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { type ConfigProblem, type Finding, formatProblem } from '../config/report/problems.ts';
import { notesOf } from '../config/rules/warnings.ts';
import type { Config } from '../config/sections/schema.ts';
import { type Creation, problemsOfStoreFiles } from '../runtime/store-files.ts';
import { type Call, Failure } from './command.ts';
import { readFoundFile } from './found-file.ts';
import { printResult } from './terminal.ts';

/** A configuration file as read: its values, or its problems. */
export type ReadConfig = LoadedConfig & { readonly file: string };

/** The file that every command finds by itself in the current folder. */
export const ownFile = 'postern.yaml';
/** The configuration of the last trial in the current folder, for every command but `serve`. */
export const trialFile = 'data/trial.yaml';

/**
 * Reads the file of `--config`, else `POSTERN_CONFIG`, else the first of `found` that the current folder has. Throws Failure
 * `usage` if there is none, `configuration` if {@link readFoundFile} refuses it.
 */
export function readConfig(call: Call, found = [ownFile, trialFile]): ReadConfig {
  const read = findConfig(call, found);
  if (read !== undefined) return read;
  throw new Failure(
    'usage',
    'no configuration: give --config FILE, set POSTERN_CONFIG, or write ./postern.yaml with postern init',
  );
}

/** As {@link readConfig}, but undefined if there is no configuration. */
export function findConfig(call: Call, found = [ownFile, trialFile]): ReadConfig | undefined {
  const { env } = call.terminal;
  const folder = call.terminal.cwd();
  const named = namedFile(call);
  if (named !== undefined) return { ...loadConfig(resolve(folder, named), env), file: named };
  for (const file of found) {
    const bytes = readFoundFile(folder, file);
    if (bytes !== undefined) return { ...loadConfig(resolve(folder, file), env, () => bytes), file };
  }
  return undefined;
}

function namedFile({ text, terminal }: Call): string | undefined {
  return text('config') || terminal.env.POSTERN_CONFIG || undefined;
}

/** The first of these files that the current folder has; undefined if there is none, or if the call names a file. */
export function foundFile(call: Call, files = [ownFile, trialFile]): string | undefined {
  if (namedFile(call) !== undefined) return undefined;
  return files.find((file) => existsSync(resolve(call.terminal.cwd(), file)));
}

/** Configuration of a file; throws Failure `configuration` with all problems at once. */
export function requireConfig(read: ReadConfig): Config {
  if (read.config !== undefined) return read.config;
  throw invalid(read.file, read.problems);
}

/** As {@link requireConfig}, but checks that the files of the stores can be opened; not for a process that has them open. */
export function requireServableConfig(read: ReadConfig, creates: Creation): Config {
  const problems = problemsOf(read, creates);
  if (problems.length > 0) throw invalid(read.file, problems);
  return requireConfig(read);
}

/** Warnings about settings that are allowed but probably not meant, each a line that begins with `kind`; default: nothing. */
export function warningLines(read: ReadConfig, kind = ''): readonly string[] {
  return (read.warnings ?? []).map((warning) => formatProblem(read.file, warning, kind));
}

/** `check`: reports all problems, warnings and notes about the configuration; with `--json`, as a list. */
export async function check(call: Call): Promise<void> {
  const read = readConfig(call);
  const problems = problemsOf(read, 'first-start');
  const { file, warnings = [] } = read;
  const notes = read.config === undefined ? [] : read.problemsOf(notesOf(read.config));
  if (call.isSet('json')) {
    const listed = [
      ...problems.map((problem) => ({ severity: 'error', file, ...problem })),
      ...warnings.map((warning) => ({ severity: 'warning', file, ...warning })),
      ...notes.map((note) => ({ severity: 'note', file, ...note })),
    ];
    await printResult(call, listed, '');
  }
  if (problems.length > 0) throw invalid(file, problems);
  for (const line of warningLines(read, 'warning: ')) call.terminal.stderr.write(`${line}\n`);
  const lines = [
    ...notes.map((note) => formatProblem(file, note, 'note: ')),
    `${file}: ${verdict(warnings.length)}`,
  ];
  if (!call.isSet('json')) await printResult(call, [], lines.join('\n'));
}

function verdict(warnings: number): string {
  return warnings === 0 ? 'no problems' : `${warnings} warning${warnings === 1 ? '' : 's'}, no errors`;
}

/** Problems that would stop `serve`, except those of servers and addresses, which only a start can detect. */
function problemsOf(read: ReadConfig, creates: Creation): readonly ConfigProblem[] {
  if (read.config === undefined) return read.problems;
  const stores = problemsOfStoreFiles(read.config, creates);
  return read.problemsOf(stores.map(({ store, reason }) => ({ path: ['stores', store], rule: reason })));
}

/** Failure for findings that came from the stores, with the line and column of each. */
export function findingsFailure(read: ReadConfig, findings: readonly Finding[]): Failure {
  return new Failure('configuration', linesOf(read, findings).join('\n'));
}

/** Findings about a configuration, one line each. */
export function linesOf(read: ReadConfig, findings: readonly Finding[]): readonly string[] {
  const problems = read.config === undefined ? [] : read.problemsOf(findings);
  return problems.map((problem) => formatProblem(read.file, problem));
}

function invalid(file: string, problems: readonly ConfigProblem[]): Failure {
  return new Failure('configuration', problems.map((problem) => formatProblem(file, problem)).join('\n'));
}
