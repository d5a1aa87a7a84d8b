import type { z } from 'zod';
import { ValidationError } from '../errors.ts';
import { parseJson } from './json-parser.ts';
import { utf8MediaType } from './media-type.ts';
import { missing, notAnObject } from './pydantic-problems.ts';
import { type SecretOptions, validate } from './validate.ts';

/**
 * Reads the body of a JSON endpoint: content type, then syntax, then fields.
 *
 * Throws {@link ValidationError}: `model_attributes_type` for a content type other than JSON in UTF-8 or a value that
 * isn't an object, `missing` for an empty body, `json_invalid` for a malformed one, otherwise every problem of the
 * fields.
 */
export function readJson<S extends z.ZodObject>(
  bytes: Uint8Array,
  contentType: string | undefined,
  schema: S,
  options: SecretOptions = {},
): z.output<S> {
  if (!isJson(utf8MediaType(contentType))) {
    // In an unparsed body the fields can't be told apart, so one secret hides everything.
    const hidden = (options.secret ?? []).length > 0;
    const text = hidden ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    throw new ValidationError([{ ...notAnObject, loc: ['body'], input: text }]);
  }
  if (bytes.length === 0) throw new ValidationError([{ ...missing, loc: ['body'], input: null }]);
  const { value, memberNames } = parseJson(bytes);
  return validate(schema, value, { loc: 'body', memberNames, ...options });
}

function isJson(mediaType: string | null): boolean {
  return mediaType !== null && /^application\/(?:.+\+)?json$/.test(mediaType);
}
