import { z } from 'zod';
import { ValidationError, type ValidationProblem } from '../errors.ts';
import {
  extraForbidden,
  findingOf,
  missing,
  notAnObject,
  notAString,
  notUnicode,
} from './pydantic-problems.ts';

/** Secret fields, whose `input` is null in every problem. */
export interface SecretOptions {
  readonly secret?: readonly string[];
  /** Fields that aren't secret, although their names look like it. */
  readonly plain?: readonly string[];
}

/** Facts about the input besides its value. */
export interface ValidateOptions extends SecretOptions {
  readonly loc: 'body' | 'query';
  /** The input's names in their original order; default: its own keys, which put integer-like names first. */
  readonly memberNames?: readonly string[];
  /** Names that were repeated; their value is a list. */
  readonly repeated?: ReadonlySet<string>;
  /** Problems found by other checks, with the path in the input as `loc`; a schema's problem with the same value goes first. */
  readonly further?: readonly ValidationProblem[];
}

/** Maximum number of reported problems, so that a response isn't many times as long as its request. */
const maxProblems = 256;

type Path = readonly (string | number)[];

/**
 * Parses the input by the schema.
 *
 * Throws {@link ValidationError} with every problem at once, in pydantic 2's shape: those of fields in the schema's
 * order, one per value, then unknown fields in their original order. A string that isn't valid Unicode is refused in
 * any field, whatever its schema. `refine` on the whole object only runs if all fields are valid, unless it has a
 * `when`.
 */
export function validate<S extends z.ZodObject>(
  schema: S,
  input: unknown,
  options: ValidateOptions,
): z.output<S> {
  if (!isObject(input)) {
    const { secret = [] } = options;
    const hidden = secret.length > 0 || holds(input, secret);
    throw new ValidationError([{ ...notAnObject, loc: [options.loc], input: hidden ? null : input }]);
  }
  const parsed = schema.safeParse(input);
  const issues = parsed.error?.issues ?? [];
  const fieldNames = Object.keys(schema.shape);
  const problems = [
    ...fieldNames.flatMap((name) => unicodeProblems(input[name], [name])),
    ...issues
      .filter((issue) => issue.code !== 'unrecognized_keys')
      .map((issue) => problemOf(issue, input, options)),
    ...(options.further ?? []),
  ];
  const all = [...onePerValue(inFieldOrder(problems, fieldNames)), ...unknownFields(issues, input, options)];
  if (parsed.success && all.length === 0) return parsed.data;
  throw new ValidationError(all.slice(0, maxProblems).map((problem) => published(problem, options)));
}

/** The values of the fields that have no problem of their own, whatever is wrong with the others. */
export function validFields<S extends z.ZodObject>(schema: S, input: unknown): Partial<z.output<S>> {
  if (!isObject(input)) return {};
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    const parsed = z.safeParse(field, input[name]);
    if (parsed.success && unicodeProblems(input[name], [name]).length === 0) fields[name] = parsed.data;
  }
  return fields as Partial<z.output<S>>;
}

function problemOf(issue: z.core.$ZodIssue, input: object, options: ValidateOptions): ValidationProblem {
  const loc = issue.path as Path;
  const value = valueAt(input, loc);
  const wantsOneValue = issue.code === 'invalid_type' || issue.code === 'invalid_value';
  if (wantsOneValue && value === undefined) return { ...missing, loc, input: null };
  const repeated = wantsOneValue && loc.length === 1 && options.repeated?.has(String(loc[0]));
  return { ...(repeated ? notAString : findingOf(issue, value)), loc, input: value };
}

function unicodeProblems(value: unknown, loc: Path): ValidationProblem[] {
  if (typeof value === 'string') return value.isWellFormed() ? [] : [{ ...notUnicode, loc, input: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => unicodeProblems(item, [...loc, index]));
  if (isObject(value))
    return Object.keys(value).flatMap((name) => unicodeProblems(value[name], [...loc, name]));
  return [];
}

function unknownFields(
  issues: readonly z.core.$ZodIssue[],
  input: Readonly<Record<string, unknown>>,
  options: ValidateOptions,
): ValidationProblem[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [];
    const path = issue.path as Path;
    const unknown = new Set(issue.keys);
    const names = path.length === 0 ? (options.memberNames ?? Object.keys(input)) : issue.keys;
    return names
      .filter((name) => unknown.has(name))
      .map((name) => ({ ...extraForbidden, loc: [...path, name], input: valueAt(input, [...path, name]) }));
  });
}

/** Sorts by the schema's order of fields, a list before its items; problems of the object as a whole come last. */
function inFieldOrder(problems: readonly ValidationProblem[], names: readonly string[]): ValidationProblem[] {
  const positions = new Map(names.map((name, position) => [name, position]));
  const position = ({ loc }: ValidationProblem) => positions.get(String(loc[0])) ?? names.length;
  const item = ({ loc }: ValidationProblem) => (typeof loc[1] === 'number' ? loc[1] : -1);
  return problems.toSorted((a, b) => position(a) - position(b) || item(a) - item(b));
}

/** The first problem of each value, and none inside a value that has a problem itself, as in pydantic. */
function onePerValue(problems: readonly ValidationProblem[]): ValidationProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ loc }) => {
    const ways = loc.map((_, index) => JSON.stringify(loc.slice(0, index + 1)));
    if (ways.some((way) => seen.has(way))) return false;
    seen.add(JSON.stringify(loc));
    return true;
  });
}

/** The problem as shown to the client: never with a password, token or key, even in the wrong field. */
function published(
  problem: ValidationProblem,
  { loc, secret = [], plain = [] }: ValidateOptions,
): ValidationProblem {
  const { type, msg, ctx } = problem;
  const names = problem.loc.map(String).filter((name) => !plain.includes(name));
  const hidden = names.some((name) => isSecret(name, secret)) || holds(problem.input, secret);
  const shown = { type, loc: [loc, ...problem.loc], msg, input: hidden ? null : problem.input };
  return ctx === undefined ? shown : { ...shown, ctx };
}

function holds(value: unknown, secret: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((item) => holds(item, secret));
  if (!isObject(value)) return false;
  return Object.keys(value).some((name) => isSecret(name, secret) || holds(value[name], secret));
}

function isSecret(name: string, secret: readonly string[]): boolean {
  return secret.includes(name) || /pass|pwd|secret|token|key|credential|assertion/i.test(name);
}

/** The raw value at a path; a single value that was read as a list stays a single value. */
function valueAt(input: unknown, path: Path): unknown {
  return path.reduce((value: unknown, step) => {
    if (typeof value !== 'object' || value === null) return value;
    return Object.hasOwn(value, step) ? (value as Record<string | number, unknown>)[step] : undefined;
  }, input);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
