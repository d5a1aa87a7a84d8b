import { z } from 'zod';
import { asIssue, type Finding, listLength } from './pydantic-problems.ts';

const control = String.raw`\u0000-\u001f\u007f-\u009f`;
/**
 * Matches a string without control characters (Unicode category Cc), for {@link codePointString}. Its source is
 * published in the OpenAPI document and in 422 responses, so it does without `\P{Cc}`, which Python's `re` can't read.
 */
export const withoutControlCharacters = new RegExp(`^[^${control}]*$`, 'u');

/** Matches a text of several lines: no control characters except line ends. */
export const linesWithoutControlCharacters = new RegExp(`^(?:[^${control}]|[\\r\\n])*$`, 'u');

/** Constraints of a string; lengths count code points. */
export interface StringOptions {
  readonly min?: number;
  readonly max?: number;
  /** Outer white space is removed before any other check; default false. */
  readonly trim?: boolean;
  readonly pattern?: RegExp;
}

/** Schema of a string whose length is counted in code points, as JSON Schema and pydantic count; zod counts UTF-16 units. */
export function codePointString({ min = 0, max, trim = false, pattern }: StringOptions = {}): z.ZodString {
  const text = trim ? z.string().trim() : z.string();
  const counted = text.check(({ value, issues }) => {
    const length = [...value].length;
    const issue = { origin: 'string', input: value } as const;
    if (length < min) issues.push({ code: 'too_small', minimum: min, ...issue });
    else if (max !== undefined && length > max) issues.push({ code: 'too_big', maximum: max, ...issue });
  });
  const matched = pattern === undefined ? counted : counted.regex(pattern);
  return matched.meta({ ...(min > 0 && { minLength: min }), ...(max !== undefined && { maxLength: max }) });
}

/** Schema of a string out of `values`; if `values` is empty, of any string, for the OpenAPI document. */
export function oneOf(values: readonly string[]) {
  const [first, ...others] = values;
  return first === undefined ? z.string() : z.enum([first, ...others]);
}

/** Schema of a list without duplicates. */
export function distinctList<T extends z.ZodType>(
  item: T,
  { min = 0, max }: { readonly min?: number; readonly max?: number } = {},
): z.ZodArray<T> {
  const atLeast = min > 0 ? z.array(item).min(min) : z.array(item);
  const bounded = max === undefined ? atLeast : atLeast.max(max);
  return bounded
    .refine((items) => new Set(items).size === items.length, 'items must be distinct')
    .meta({ uniqueItems: true });
}

/** Requires the named lists to have at least one item together; otherwise reports `too_short` at the first list. */
export function togetherAtLeastOne<S extends z.ZodObject>(
  schema: S,
  names: readonly (keyof S['shape'] & string)[],
): S {
  const holdsOne = (fields: Record<string, unknown>) =>
    names.some((name) => !Array.isArray(fields[name]) || fields[name].length > 0);
  // Checked whatever else is wrong, because every problem is reported at once.
  return schema.refine(holdsOne, { ...asIssue(listLength(1, 0)), path: [names[0]!], when: () => true });
}

/** Schema of a query parameter or form field that may be repeated; a single value becomes a list. */
export function repeatable<T extends z.ZodArray>(list: T) {
  return z.preprocess((value) => (typeof value === 'string' ? [value] : value), list);
}

/**
 * Schema of an integer written as text, as pydantic reads one: outer space, sign, `1_000` and `5.0` pass. Bounds are inclusive.
 * Use `prefault` for a default: zod omits a `default` of such a type from the JSON Schema.
 */
export function integerText({ ge, le }: { readonly ge: number; readonly le: number }) {
  const integer = z.number().gte(ge).lte(le).meta({ type: 'integer' });
  return fromText(integer, (text) => {
    if (!/^[+-]?\d+(?:_\d+)*(?:\.0+)?$/.test(text.trim())) return notAnInteger;
    const value = Number(text.replaceAll('_', ''));
    return Number.isFinite(value) ? value : integerTooLong;
  });
}

/**
 * Schema of a boolean written as text, in pydantic's spellings: true, false, 1, 0, on, off, yes, no, t, f, y, n in any case. Use
 * `prefault` for a default, as for {@link integerText}.
 */
export function booleanText() {
  return fromText(z.boolean(), (text) => {
    if (/^(?:true|1|on|yes|t|y)$/i.test(text)) return true;
    return /^(?:false|0|off|no|f|n)$/i.test(text) ? false : notABoolean;
  });
}

const notAnInteger: Finding = {
  type: 'int_parsing',
  msg: 'Input should be a valid integer, unable to parse string as an integer',
};
const integerTooLong: Finding = {
  type: 'int_parsing_size',
  msg: 'Unable to parse input string as an integer, exceeded maximum size',
};
const notABoolean: Finding = {
  type: 'bool_parsing',
  msg: 'Input should be a valid boolean, unable to interpret input',
};

/** Schema that converts a string by `read` before `schema` checks it; any other value is left for `schema` to refuse. */
function fromText<T extends z.ZodType>(schema: T, read: (text: string) => number | boolean | Finding) {
  return z.preprocess((value, context) => {
    if (typeof value !== 'string') return value;
    const result = read(value);
    if (typeof result !== 'object') return result;
    context.issues.push({ code: 'custom', input: value, ...asIssue(result) });
    return z.NEVER;
  }, schema);
}
