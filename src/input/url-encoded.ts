import { z } from 'zod';
import { ValidationError, type ValidationProblem } from '../errors.ts';
import { utf8MediaType } from './media-type.ts';
import { tooMany } from './pydantic-problems.ts';
import { type SecretOptions, validate, validFields } from './validate.ts';

/** Fields of an `application/x-www-form-urlencoded` text or a query string. */
export interface UrlEncodedFields {
  /** A string, or a list for a repeated name. Has no prototype. */
  readonly values: Record<string, string | string[]>;
  /** The names in order of first appearance. */
  readonly names: readonly string[];
  /** The names that were repeated. */
  readonly repeated: ReadonlySet<string>;
}

/** Maximum number of fields, repeated ones included: no endpoint has as many, and each takes memory and time. */
const maxFields = 256;

/**
 * Parses as the WHATWG URL standard does (`+` is a space, a malformed escape stands for itself), with one difference:
 * bytes that are not UTF-8 are not replaced by U+FFFD, but kept as lone surrogates, which {@link validate} refuses.
 *
 * `encoded` has one byte per character (latin1). Throws {@link ValidationError} with one `too_long` at `loc` for more
 * than 256 fields.
 */
export function parseUrlEncoded(encoded: string, loc: 'body' | 'query'): UrlEncodedFields {
  if (holdsMore(encoded)) throw new ValidationError([{ ...tooMany(maxFields), loc: [loc], input: null }]);
  const fields = new Map<string, string[]>();
  for (const pair of encoded.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  const values = Object.create(null);
  for (const [name, all] of fields) values[name] = all.length === 1 ? all[0] : all;
  const repeated = [...fields].filter(([, all]) => all.length > 1).map(([name]) => name);
  return { values, names: [...fields.keys()], repeated: new Set(repeated) };
}

function holdsMore(encoded: string): boolean {
  let fields = 1;
  for (let at = encoded.indexOf('&'); at >= 0; at = encoded.indexOf('&', at + 1))
    if (++fields > maxFields) return true;
  return false;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(encoded: string): string {
  const bytes = encoded
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  try {
    return utf8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return bytes.replace(/[^\0-\x7f]/g, (byte) => String.fromCharCode(0xdc00 + byte.charCodeAt(0)));
  }
}

/** Schema of the query of a call that refuses every parameter. */
export const noParameters = z.strictObject({});

/**
 * Reads the query string, given without its `?`; absent means empty. A blank parameter counts as absent, because generated
 * clients send blank ones; a repeated one is a problem unless its type is `repeatable(…)`. The schema decides about unknown ones:
 * `z.strictObject` refuses them, `z.object` ignores them. `judge` gets the parameters that the schema accepts, and reports
 * problems of their combination.
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
  const { values, ...facts } = readFields(rawQuery ?? '', 'query');
  const further = judge?.(validFields(schema, values));
  return validate(schema, values, { ...facts, further, ...options });
}

const formType = 'application/x-www-form-urlencoded';

/**
 * Reads the body of a form endpoint. A blank field counts as absent (RFC 6749 §3.1), a repeated one is a problem; the
 * schema decides about unknown ones (OAuth: `z.object` ignores them). A body of another content type, or none, has no
 * fields: the remedy of the problems then names the right one.
 *
 * Throws {@link ValidationError} with every problem at once.
 */
export function readForm<S extends z.ZodObject>(
  bytes: Uint8Array,
  contentType: string | undefined,
  schema: S,
  options: SecretOptions = {},
): z.output<S> {
  const isForm = utf8MediaType(contentType) === formType;
  const { values, ...facts } = readFields(isForm ? Buffer.from(bytes).toString('latin1') : '', 'body');
  try {
    return validate(schema, values, { ...facts, ...options });
  } catch (error) {
    if (isForm || bytes.length === 0 || !(error instanceof ValidationError)) throw error;
    throw new ValidationError(error.problems, `Send the fields as ${formType}, in UTF-8`);
  }
}

function readFields(encoded: string, loc: 'body' | 'query') {
  const { values, names: memberNames, repeated } = parseUrlEncoded(encoded, loc);
  for (const name of memberNames) if (values[name] === '') delete values[name];
  return { values, loc, memberNames, repeated };
}
