import type { z } from 'zod';
import { utf8MediaType } from './media-type.ts';
import { parseUrlEncoded } from './url-encoded.ts';
import { type SecretOptions, validate } from './validate.ts';

/**
 * Reads the body of a form endpoint. A blank field counts as absent (RFC 6749 §3.1), a repeated one is a problem; the
 * schema decides about unknown ones (OAuth: `z.object` ignores them). A body of another content type, or none, has no
 * fields.
 *
 * Throws {@link ValidationError} with every problem at once.
 */
export function readForm<S extends z.ZodObject>(
  bytes: Uint8Array,
  contentType: string | undefined,
  schema: S,
  options: SecretOptions = {},
): z.output<S> {
  const isForm = utf8MediaType(contentType) === 'application/x-www-form-urlencoded';
  const { values, names, repeated } = parseUrlEncoded(
    isForm ? Buffer.from(bytes).toString('latin1') : '',
    'body',
  );
  for (const name of names) if (values[name] === '') delete values[name];
  return validate(schema, values, { loc: 'body', memberNames: names, repeated, ...options });
}
