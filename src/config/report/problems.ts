import { escapeControls } from '../../log/escape-controls.ts';

/** A location in the configuration: keys of maps and indexes of lists, from the root. */
export type Path = readonly (string | number)[];

/** A broken rule and its location. */
export interface Finding {
  readonly path: Path;
  readonly rule: string;
  /** The position to report: the `value` (the default), the `key`, or, for something missing, its `parent`. */
  readonly at?: 'key' | 'value' | 'parent';
  /** The offset into the text, if the path alone doesn't determine it. */
  readonly offset?: number;
  /** For an unknown key: the known key of the same map that was probably meant. */
  readonly meant?: string;
  /** Present if the finding is that a map has no entries: a misspelt entry may be the cause. */
  readonly isEmptiness?: true;
}

/** A problem of a configuration file. Lines and columns count from 1. */
export interface ConfigProblem {
  readonly line: number;
  readonly column: number;
  /** The key from the root, such as `routes[0].upstream`; `configuration` for the file as a whole. */
  readonly key: string;
  readonly rule: string;
  /** The offending value as text, or the origin of a value from outside the file; absent for a map, list or secret. */
  readonly value?: string;
}

/** A path in its usual notation: `routes[0].upstream`. */
export function keyOf(path: Path): string {
  let key = '';
  for (const step of path) key += typeof step === 'number' ? `[${step}]` : key === '' ? step : `.${step}`;
  return key === '' ? 'configuration' : key;
}

const maxValueLength = 100;

/**
 * A problem on one line: `file:line:column: key: rule (value)`, with `kind`, such as `warning: `, before the key. Control
 * characters are escaped, long values truncated.
 */
export function formatProblem(file: string, problem: ConfigProblem, kind = ''): string {
  const { line, column, key, rule, value = '' } = problem;
  const cut = value.length > maxValueLength ? `${value.slice(0, maxValueLength)}…` : value;
  const shown = problem.value === undefined ? '' : ` (${cut})`;
  return escapeControls(`${file}:${line}:${column}: ${kind}${key}: ${rule}${shown}`);
}
