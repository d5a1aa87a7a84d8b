import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { withAbsolutePaths } from './absolute-paths.ts';
import { findingsOf, ruleOf } from './issues.ts';
import { decodeUtf8, reasonOf, type Surroundings } from './outside-values.ts';
import { positionsIn } from './positions.ts';
import { type ConfigProblem, type Finding, keyOf } from './problems.ts';
import { findingsOfRules } from './rules.ts';
import { type Config, configSchema } from './schema.ts';
import { parseYaml } from './syntax.ts';
import { readTree } from './tree.ts';

/** A valid configuration, or everything that is wrong with it in the order of the file. */
export type LoadedConfig = (
  | { readonly config: Config; readonly problems?: undefined }
  | { readonly config?: undefined; readonly problems: readonly ConfigProblem[] }
) & {
  /** Absolute paths of the configuration file and of every `{ file: PATH }` in it, found or not. */
  readonly sources: readonly string[];
};

type Judged = { readonly config: Config } | { readonly problems: readonly ConfigProblem[] };

/** Reads and judges a configuration file; every `{ env: NAME }` is looked up in `env`. Never throws for its content. */
export function loadConfig(file: string, env: NodeJS.ProcessEnv): LoadedConfig {
  const path = resolve(file);
  const sources = new Set([path]);
  const read = readText(path);
  const judged =
    'rule' in read
      ? { problems: [{ line: 1, column: 1, key: 'configuration', rule: read.rule }] }
      : judge(read.text, { env, folder: dirname(path), sources });
  return { ...judged, sources: [...sources] };
}

function readText(path: string): { text: string } | { rule: string } {
  try {
    const text = decodeUtf8(readFileSync(path));
    return text === undefined ? { rule: 'must be UTF-8' } : { text };
  } catch (error) {
    return { rule: `can't be read: ${reasonOf(error)}` };
  }
}

function judge(text: string, surroundings: Surroundings): Judged {
  const { document, lines, findings: syntax, isReadable } = parseYaml(text);
  if (!isReadable) return { problems: positionsIn(lines).problemsOf(syntax) };

  const tree = readTree(document, configSchema, surroundings);
  const problemsOf = positionsIn(lines, tree).problemsOf;
  if (tree.value === undefined) return { problems: problemsOf(tree.findings) };

  const parsed = configSchema.safeParse(tree.value, { error: ruleOf });
  const issues = parsed.success ? [] : findingsOf(parsed.error.issues, tree.value);
  const broken = [...tree.findings, ...issues.filter((issue) => !tree.findings.some(isAbout(issue)))];
  const problems = problemsOf([...syntax, ...broken, ...findingsOfRules(tree.value, broken)]);
  return parsed.success && problems.length === 0
    ? { config: withAbsolutePaths(parsed.data, surroundings.folder) }
    : { problems };
}

/** Whether a finding of the tree says already what is wrong with that value: an unset variable is no missing key. */
function isAbout(issue: Finding): (finding: Finding) => boolean {
  return ({ path, offset }) => offset === undefined && keyOf(path) === keyOf(issue.path);
}
