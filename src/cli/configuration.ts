import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { type ConfigProblem, formatProblem } from '../config/problems.ts';
import type { Config } from '../config/schema.ts';
import { type UnsupportedStore, unsupportedStores } from '../open-stores.ts';
import type { Call } from './command.ts';
import { Failure } from './failure.ts';

/** A configuration file that was read: what it says, or everything that is wrong with it. */
export type ReadConfig = LoadedConfig & { readonly file: string };

/** Reads the file of `--config`, else of `POSTERN_CONFIG`; throws Failure `usage` when neither names one. */
export function readConfig({ text, terminal }: Call): ReadConfig {
  const file = text('config') || terminal.env.POSTERN_CONFIG;
  if (!file) throw new Failure('usage', 'no configuration: give --config FILE or set POSTERN_CONFIG');
  const loaded = loadConfig(file, terminal.env);
  const problems = loaded.config === undefined ? [] : unsupportedStores(loaded.config);
  if (problems.length === 0) return { ...loaded, file };
  return { problems: problems.map(notOfThisVersion), sources: loaded.sources, file };
}

/** The configuration; throws Failure `configuration` with all problems at once. */
export function requireConfig(read: ReadConfig): Config {
  if (read.config !== undefined) return read.config;
  const lines = read.problems.map((problem) => formatProblem(read.file, problem));
  throw new Failure('configuration', lines.join('\n'));
}

/** Its place in the file is not known any more. */
function notOfThisVersion({ key, rule }: UnsupportedStore): ConfigProblem {
  return { line: 1, column: 1, key, rule };
}
