import type { z } from 'zod';
import { ValidationError, type ValidationProblem } from '../errors.ts';
import { parseJson } from './json-parser.ts';
import { utf8MediaType } from './media-type.ts';
import { missing, notAnObject } from './pydantic-problems.ts';
import { type SecretOptions, validate, validFields } from './validate.ts';

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
  const { value, memberNames } = parseBody(bytes, contentType, options);
  return validate(schema, value, { loc: 'body', memberNames, ...options });
}

/** Judges fields by facts that the schema doesn't know; resolves to their problems, with the path in the body as `loc`. */
export type FieldJudge<S extends z.ZodObject> = (
  fields: Partial<z.output<S>>,
) => Promise<readonly ValidationProblem[]>;

/**
 * Reads like {@link readJson}, but `judge` judges the fields too, for example by stored records. It gets the fields that the
 * schema accepts; the problems that it finds are reported together with the schema's.
 */
export async function readJudgedJson<S extends z.ZodObject>(
  bytes: Uint8Array,
  contentType: string | undefined,
  schema: S,
  { judge, ...options }: SecretOptions & { readonly judge: FieldJudge<S> },
): Promise<z.output<S>> {
  const { value, memberNames } = parseBody(bytes, contentType, options);
  const further = await judge(validFields(schema, value));
  return validate(schema, value, { loc: 'body', memberNames, further, ...options });
}

function parseBody(bytes: Uint8Array, contentType: string | undefined, { secret = [] }: SecretOptions) {
  if (!isJson(utf8MediaType(contentType))) {
    // In an unparsed body the fields can't be told apart, so one secret hides everything.
    const text = secret.length > 0 ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    throw new ValidationError([{ ...notAnObject, loc: ['body'], input: text }]);
  }
  if (bytes.length === 0) throw new ValidationError([{ ...missing, loc: ['body'], input: null }]);
  return parseJson(bytes);
}

function isJson(mediaType: string | null): boolean {
  return mediaType !== null && /^application\/(?:.+\+)?json$/.test(mediaType);
}
