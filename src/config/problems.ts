import { escapeControls } from '../log/escape-controls.ts';

/** Where something stands in the configuration: keys of maps and indexes of lists, from the root. */
export type Path = readonly (string | number)[];

/** A rule that is broken, and at which end of its path to point. */
export interface Finding {
  readonly path: Path;
  readonly rule: string;
  /** `value` (the default), the `key`, or for what is missing the `parent`. */
  readonly at?: 'key' | 'value' | 'parent';
  /** Where it stands, as an offset into the text, when the path alone does not tell. */
  readonly offset?: number;
  /** For an unknown key: the known one beside it that was probably meant. */
  readonly meant?: string;
  /** It says that a map lacks entries, which one under a misspelt name is. */
  readonly isEmptiness?: true;
}

/** One problem of a configuration file. Lines and columns count from 1. */
export interface ConfigProblem {
  readonly line: number;
  readonly column: number;
  /** The key from the root, such as `routes[0].upstream`; `configuration` for the file as a whole. */
  readonly key: string;
  readonly rule: string;
  /** The offending value as text, or for one from outside the file where it is from; absent for a map, list or secret. */
  readonly value?: string;
}

/** A path as people write it: `routes[0].upstream`. */
export function keyOf(path: Path): string {
  let key = '';
  for (const step of path) key += typeof step === 'number' ? `[${step}]` : key === '' ? step : `.${step}`;
  return key === '' ? 'configuration' : key;
}

/** A problem on one line: `file:line:column: key: rule (value)`. Control characters are escaped, long values cut. */
export function formatProblem(file: string, problem: ConfigProblem): string {
  return format(file, problem, '');
}

/** A warning on one line: as a problem, with that word before it. */
export function formatWarning(file: string, warning: ConfigProblem): string {
  return format(file, warning, 'warning: ');
}

function format(file: string, problem: ConfigProblem, kind: string): string {
  const value = problem.value === undefined ? '' : ` (${cut(problem.value)})`;
  return escapeControls(
    `${file}:${problem.line}:${problem.column}: ${kind}${problem.key}: ${problem.rule}${value}`,
  );
}

const longestValue = 100;

function cut(value: string): string {
  return value.length > longestValue ? `${value.slice(0, longestValue)}…` : value;
}
