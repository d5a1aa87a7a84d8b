import type { z } from 'zod';
import { parseUrlEncoded } from './url-encoded.ts';
import { type SecretOptions, validate } from './validate.ts';

/**
 * Reads the query string, given without its `?`; absent means empty. A blank parameter counts as absent, because
 * generated clients send them; a repeated one is a problem unless its type is `repeatable(…)`. The schema decides about
 * unknown ones: `z.strictObject` refuses them, `z.object` ignores them.
 *
 * Throws {@link ValidationError} with every problem at once.
 */
export function readQuery<S extends z.ZodObject>(
  rawQuery: string | undefined,
  schema: S,
  options: SecretOptions = {},
): z.output<S> {
  const { values, names, repeated } = parseUrlEncoded(rawQuery ?? '', 'query');
  for (const name of names) if (values[name] === '') delete values[name];
  return validate(schema, values, { loc: 'query', memberNames: names, repeated, ...options });
}
