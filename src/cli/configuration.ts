import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problems.ts';
import type { Config } from '../config/schema.ts';
import { type Call, Failure } from './command.ts';
import { printJsonAlone, printResult } from './terminal.ts';

/** A configuration file that was read: what it says, or everything that is wrong with it. */
export type ReadConfig = LoadedConfig & { readonly file: string };

/** Reads the file of `--config`, else of `POSTERN_CONFIG`; throws Failure `usage` when neither names one. */
export function readConfig({ text, terminal }: Call): ReadConfig {
  const file = text('config') || terminal.env.POSTERN_CONFIG;
  if (!file) throw new Failure('usage', 'no configuration: give --config FILE or set POSTERN_CONFIG');
  return { ...loadConfig(file, terminal.env), file };
}

/** The configuration; throws Failure `configuration` with all problems at once. */
export function requireConfig(read: ReadConfig): Config {
  if (read.config !== undefined) return read.config;
  const lines = read.problems.map((problem) => formatProblem(read.file, problem));
  throw new Failure('configuration', lines.join('\n'));
}

/** `check`: every problem of the configuration at once; as JSON, the list of them. */
export async function check(call: Call): Promise<void> {
  const read = readConfig(call);
  const problems = read.problems ?? [];
  if (problems.length > 0) {
    await printJsonAlone(
      call,
      problems.map((problem) => ({ file: read.file, ...problem })),
    );
  }
  requireConfig(read);
  await printResult(call, [], `${read.file}: no problems`);
}
