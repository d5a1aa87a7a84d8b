import type { z } from 'zod';
import { isRefusal, type RefusalCode, ValidationError } from '../errors.ts';
import { validate } from '../input/validate.ts';
import { Failure } from './command.ts';

/** Creates a handler of rejections: a refusal of that code becomes a Failure with the sentence; others are thrown unchanged. */
export function refusedAs(code: RefusalCode, sentence: string): (error: unknown) => never {
  return (error) => {
    throw isRefusal(error, code) ? new Failure('failed', sentence, error) : error;
  };
}

/** Validates fields by the rules of the HTTP API; throws Failure `usage` with every problem (`prefix`, field, message). */
export function requireFields<S extends z.ZodObject>(
  schema: S,
  fields: Record<string, unknown>,
  prefix = '',
): z.output<S> {
  try {
    return validate(schema, fields, { loc: 'body' });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const problems = error.problems.map(({ loc, msg }) => `${prefix}${String(loc[1])}: ${msg}`);
    throw new Failure('usage', problems.join('; '), error);
  }
}
