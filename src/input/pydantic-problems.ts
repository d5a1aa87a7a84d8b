import type { z } from 'zod';

/** Fault of a value, in pydantic 2's words; location and input are added later. */
export interface Finding {
  readonly type: string;
  readonly msg: string;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** Required field, parameter or body that is absent. */
export const missing: Finding = { type: 'missing', msg: 'Field required' };

/** A value without fields where fields were expected. */
export const notAnObject: Finding = {
  type: 'model_attributes_type',
  msg: 'Input should be a valid dictionary or object to extract fields from',
};

/** Value of another type than a string, or a repeated field or parameter. */
export const notAString: Finding = { type: 'string_type', msg: 'Input should be a valid string' };

/** A string that isn't valid Unicode: lone surrogates, or bytes that weren't UTF-8. */
export const notUnicode: Finding = {
  type: 'string_unicode',
  msg: 'Input should be a valid string, unable to parse raw data as a unicode string',
};

/** A field that the schema doesn't have. */
export const extraForbidden: Finding = { type: 'extra_forbidden', msg: 'Extra inputs are not permitted' };

/** Value of another type where a time is expected. It is recognised by its message, because zod reports an expected string. */
export const notADateTime: Finding = { type: 'datetime_type', msg: 'Input should be a valid datetime' };

/** Findings for a wrong type, by the type zod expected. */
const wrongType: Readonly<Record<string, Finding>> = {
  string: notAString,
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  number: { type: 'int_type', msg: 'Input should be a valid integer' },
  int: { type: 'int_type', msg: 'Input should be a valid integer' },
  object: notAnObject,
};

/** Arguments that make a zod check report this finding: `refine(test, asIssue(finding))`. */
export function asIssue(finding: Finding): { message: string; params: { finding: Finding } } {
  return { message: finding.msg, params: { finding } };
}

/** Finding for too many fields, or values in all; `actual_length` is unknown, because the rest isn't read. */
export function tooMany(most: number): Finding {
  return {
    type: 'too_long',
    msg: `Dictionary should have at most ${most} items after validation, not more`,
    ctx: { field_type: 'Dictionary', max_length: most, actual_length: null },
  };
}

/** Finding for a list that is too short or, if `actual` exceeds the bound, too long. */
export function listLength(bound: number, actual: number): Finding {
  const short = actual < bound;
  const items = `${bound} ${bound === 1 ? 'item' : 'items'}`;
  return {
    type: short ? 'too_short' : 'too_long',
    msg: `List should have at ${short ? 'least' : 'most'} ${items} after validation, not ${actual}`,
    ctx: { field_type: 'List', [short ? 'min_length' : 'max_length']: bound, actual_length: actual },
  };
}

/**
 * The finding for a zod issue, in pydantic's words. An issue without a counterpart, or from a plain `refine`, is a `value_error`
 * with its own message.
 */
export function findingOf(issue: z.core.$ZodIssue, input: unknown): Finding {
  switch (issue.code) {
    case 'custom':
      return (issue.params?.finding as Finding | undefined) ?? valueError(issue.message);
    case 'invalid_type':
      if (issue.message === notADateTime.msg) return notADateTime;
      return wrongType[issue.expected] ?? valueError(issue.message);
    case 'invalid_value':
      return literalError(issue.values);
    case 'too_small':
      return bounded(issue.origin, 'min', Number(issue.minimum), input) ?? valueError(issue.message);
    case 'too_big':
      return bounded(issue.origin, 'max', Number(issue.maximum), input) ?? valueError(issue.message);
    case 'invalid_format':
      return issue.pattern === undefined ? valueError(issue.message) : patternMismatch(issue.pattern);
    default:
      return valueError(issue.message);
  }
}

function bounded(origin: string, end: 'min' | 'max', bound: number, input: unknown): Finding | undefined {
  const low = end === 'min';
  if (origin === 'array' && Array.isArray(input)) return listLength(bound, input.length);
  if (origin === 'number') {
    const relation = low ? 'greater' : 'less';
    return {
      type: `${relation}_than_equal`,
      msg: `Input should be ${relation} than or equal to ${bound}`,
      ctx: { [low ? 'ge' : 'le']: bound },
    };
  }
  if (origin !== 'string') return undefined;
  const characters = `${bound} ${bound === 1 ? 'character' : 'characters'}`;
  return {
    type: low ? 'string_too_short' : 'string_too_long',
    msg: `String should have at ${low ? 'least' : 'most'} ${characters}`,
    ctx: { [low ? 'min_length' : 'max_length']: bound },
  };
}

function patternMismatch(expression: string): Finding {
  const pattern = expression.replace(/^\/(.*)\/[a-z]*$/s, '$1');
  return {
    type: 'string_pattern_mismatch',
    msg: `String should match pattern '${pattern}'`,
    ctx: { pattern },
  };
}

function literalError(values: readonly unknown[]): Finding {
  const quoted = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
  const last = quoted.pop();
  const expected = quoted.length === 0 ? `${last}` : `${quoted.join(', ')} or ${last}`;
  return { type: 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } };
}

/** Finding for a rule of the application; `ctx` is what FastAPI makes of an exception. */
export function valueError(message: string): Finding {
  return { type: 'value_error', msg: `Value error, ${message}`, ctx: { error: {} } };
}
