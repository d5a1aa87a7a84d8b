import { z } from 'zod';
import type { ValidationProblem } from '../errors.ts';
import { parseUrlEncoded } from './url-encoded.ts';
import { type SecretOptions, validate, validFields } from './validate.ts';

/** Query of a call that refuses every parameter. */
export const noParameters = z.strictObject({});

/**
 * Reads the query string, given without its `?`; absent means empty. A blank parameter counts as absent, because
 * generated clients send them; a repeated one is a problem unless its type is `repeatable(…)`. The schema decides about
 * unknown ones: `z.strictObject` refuses them, `z.object` ignores them. `judge` gets the parameters without a problem of
 * their own, and finds problems of several together.
 *
 * Throws {@link ValidationError} with every problem at once.
 */
export function readQuery<S extends z.ZodObject>(
  rawQuery: string | undefined,
  schema: S,
  {
    judge,
    ...options
  }: SecretOptions & {
    readonly judge?: (parameters: Partial<z.output<S>>) => readonly ValidationProblem[];
  } = {},
): z.output<S> {
  const { values, names, repeated } = parseUrlEncoded(rawQuery ?? '', 'query');
  for (const name of names) if (values[name] === '') delete values[name];
  const further = judge?.(validFields(schema, values));
  return validate(schema, values, { loc: 'query', memberNames: names, repeated, further, ...options });
}
