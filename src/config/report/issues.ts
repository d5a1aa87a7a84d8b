import type { z } from 'zod';
import { nearestName, suggestion } from '../../rules/nearest-name.ts';
import { type Finding, keyOf, type Path } from './problems.ts';
import { keysAt } from './shape.ts';

type Issue = z.core.$ZodIssue;

const namesOfTypes: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

/** The rule that zod found broken, in our own words; a message given in a schema takes precedence. */
export function ruleOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'string' && ['number', 'boolean'].includes(typeof issue.input))
        return 'must be a string: put it in quotes';
      return `must be ${namesOfTypes[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    default:
      return 'is not valid';
  }
}

/** Converts a schema's issues with a value to findings: one for each unknown key, and for a union only the intended branch's. */
export function findingsOf(schema: z.ZodType, issues: readonly Issue[], value: unknown): Finding[] {
  const findings = issues.flatMap((issue) => findingsOfIssue(schema, issue, value));
  const unknown = findings.filter(({ meant }) => meant !== undefined);
  // A key that is present under a misspelt name is neither missing nor empty.
  return findings.filter((finding) => !unknown.some((other) => followsFrom(finding, other)));
}

function followsFrom({ path, at, isEmptiness }: Finding, unknown: Finding): boolean {
  const map = keyOf(unknown.path.slice(0, -1));
  if (isEmptiness) return keyOf(path) === map;
  return at === 'parent' && path.at(-1) === unknown.meant && keyOf(path.slice(0, -1)) === map;
}

function findingsOfIssue(schema: z.ZodType, issue: Issue, value: unknown): Finding[] {
  const path = issue.path as (string | number)[];
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, path);
    return issue.keys.map((key) => unknownKey([...path, key], known, lookUp(value, path)));
  }
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.find((branch) => !branch.some(isOfOtherType));
    if (meant)
      return meant.flatMap((inner) =>
        findingsOfIssue(schema, { ...inner, path: [...path, ...inner.path] }, value),
      );
  }
  if (issue.code !== 'custom' && lookUp(value, path) === undefined)
    return [{ path, rule: 'is required', at: 'parent' }];
  const at = issue.code === 'custom' && issue.params?.at === 'key' ? 'key' : 'value';
  const isEmptiness = issue.code === 'custom' && issue.params?.isEmptiness === true;
  return [{ path, rule: issue.message, at, ...(isEmptiness && { isEmptiness }) }];
}

/** A finding about an unknown key, with the known key that was probably meant unless that is present too. */
function unknownKey(path: Path, known: readonly string[], map: unknown): Finding {
  const written = String(path.at(-1));
  const free = known.filter((name) => !Object.hasOwn(map as object, name));
  const meant = nearestName(written, free);
  return { path, rule: `unknown key${suggestion(written, free)}`, at: 'key', ...(meant && { meant }) };
}

/** True if a branch of a union failed at its root: then another branch was meant. */
function isOfOtherType(issue: Issue): boolean {
  return issue.path.length === 0 && ['invalid_type', 'invalid_value', 'invalid_union'].includes(issue.code);
}

/** True if a value is a map or list with that key or index. */
export function hasKey(map: unknown, key: string | number): boolean {
  return typeof map === 'object' && map !== null && Object.hasOwn(map, key);
}

/** The value at a path, or undefined if there is none. */
export function lookUp(value: unknown, path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    if (!hasKey(found, step)) return undefined;
    found = (found as Record<string | number, unknown>)[step];
  }
  return found;
}
