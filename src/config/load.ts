import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { withAbsolutePaths } from './absolute-paths.ts';
import { withDependentDefaults } from './dependent-defaults.ts';
import { goodPartsOf, withBrokenMarked } from './report/good-parts.ts';
import { findingsOf, ruleOf } from './report/issues.ts';
import { decodeUtf8, reasonOf, type Surroundings } from './report/outside-values.ts';
import { positionsIn } from './report/positions.ts';
import { type ConfigProblem, type Finding, keyOf } from './report/problems.ts';
import { parseYaml } from './report/syntax.ts';
import { readTree } from './report/tree.ts';
import { certificateWarnings } from './rules/certificate-warnings.ts';
import { findingsOfFiles } from './rules/file-rules.ts';
import { findingsOfRules } from './rules/rules.ts';
import { warningsOf } from './rules/warnings.ts';
import { type Config, configSchema } from './sections/schema.ts';

interface ValidConfig {
  readonly config: Config;
  readonly problems?: undefined;
  /** Settings that are allowed but probably unintended, in file order. */
  readonly warnings: readonly ConfigProblem[];
  /** Adds line and column to the findings of later checks. */
  readonly problemsOf: (findings: readonly Finding[]) => readonly ConfigProblem[];
}

/** All problems of a configuration, in file order. */
interface InvalidConfig {
  readonly config?: undefined;
  readonly warnings?: undefined;
  readonly problems: readonly ConfigProblem[];
  /** True if some problems are in files that the configuration names: those can be repaired without changing it. */
  readonly hasFileProblems: boolean;
}

/** A valid configuration, or all problems of an invalid one. */
export type LoadedConfig = (ValidConfig | InvalidConfig) & {
  /** Absolute paths of the configuration file, of every `{ file: PATH }` in it, found or not, and of unusable files it names. */
  readonly sources: readonly string[];
};

type Judged = ValidConfig | InvalidConfig;

/**
 * Reads and validates a configuration file, whose bytes `read` returns; every `{ env: NAME }` is looked up in `env`. Never throws
 * because of its content.
 */
export function loadConfig(
  file: string,
  env: NodeJS.ProcessEnv,
  read: (path: string) => Uint8Array = readFileSync,
): LoadedConfig {
  const path = resolve(file);
  const sources = new Set([path]);
  const content = readText(path, read);
  const judged =
    'rule' in content
      ? invalid([{ line: 1, column: 1, key: 'configuration', rule: content.rule }])
      : judge(content.text, { env, folder: dirname(path), sources });
  return { ...judged, sources: [...sources] };
}

/** Validates a configuration given as text; relative paths start at `folder`. Never throws because of its content. */
export function loadConfigText(text: string, folder: string, env: NodeJS.ProcessEnv): LoadedConfig {
  const sources = new Set<string>();
  return { ...judge(text, { env, folder: resolve(folder), sources }), sources: [...sources] };
}

function readText(path: string, read: (path: string) => Uint8Array): { text: string } | { rule: string } {
  try {
    const text = decodeUtf8(read(path));
    return text === undefined ? { rule: 'must be UTF-8' } : { text };
  } catch (error) {
    return { rule: `can't be read: ${reasonOf(error)}` };
  }
}

function judge(text: string, surroundings: Surroundings): Judged {
  const { document, lines, findings: syntax, isReadable } = parseYaml(text);
  if (!isReadable) return invalid(positionsIn(lines).problemsOf(syntax));

  const tree = readTree(document, configSchema, surroundings);
  const problemsOf = positionsIn(lines, tree).problemsOf;
  if (tree.value === undefined) return invalid(problemsOf(tree.findings));

  const parsed = configSchema.safeParse(tree.value, { error: ruleOf });
  const issues = parsed.success ? [] : findingsOf(configSchema, parsed.error.issues, tree.value);
  const broken = [...tree.findings, ...issues.filter((issue) => !tree.findings.some(isAbout(issue)))];
  const written = withBrokenMarked(tree.value, broken);
  const goodParts = withDependentDefaults(goodPartsOf(configSchema, written) ?? {}, written);
  const ofRules = findingsOfRules(goodParts, written);
  // The files of a misplaced section aren't needed.
  const inPlace = withBrokenMarked(
    written,
    ofRules.map(({ path, rule }) => ({ path, rule })),
  );
  const ofFiles = findingsOfFiles(goodPartsOf(configSchema, inPlace) ?? {}, surroundings);
  const findings = [...syntax, ...broken, ...ofRules, ...ofFiles];
  if (!parsed.success || findings.length > 0) return invalid(problemsOf(findings), ofFiles.length > 0);
  const relative = withDependentDefaults(parsed.data, written);
  const config = withAbsolutePaths(relative, surroundings.folder);
  const warnings = problemsOf([...warningsOf(relative, written), ...certificateWarnings(config, Date.now())]);
  return { config, warnings, problemsOf };
}

function invalid(problems: readonly ConfigProblem[], hasFileProblems = false): InvalidConfig {
  return { problems, hasFileProblems };
}

/** Creates a filter for findings about the same value as `issue`: an unset variable isn't reported as a missing key, too. */
function isAbout(issue: Finding): (finding: Finding) => boolean {
  return ({ path, offset }) => offset === undefined && keyOf(path) === keyOf(issue.path);
}
