import { z } from 'zod';
import { passwordFault } from '../credentials/password-rules.ts';
import { parsePassword } from '../credentials/passwords.ts';
import { ValidationError, type ValidationProblem } from '../errors.ts';
import { type FieldJudge, readJson, readJudgedJson } from '../input/json-body.ts';
import { valueError } from '../input/pydantic-problems.ts';
import { withoutControlCharacters } from '../input/pydantic-types.ts';
import { noParameters, readQuery } from '../input/url-encoded.ts';
import type { SecretOptions } from '../input/validate.ts';
import { parseUsername } from '../rules/account-name.ts';
import { maxPasswordBytes, maxUsernameCodePoints } from '../rules/text-limits.ts';
import type { Records } from '../stores/records.ts';
import type { Call } from './endpoint.ts';

/**
 * Reads the JSON body of a call that changes something and takes no query parameters. Parameters are refused, because their
 * sender expects an effect that they don't have.
 *
 * Rejects with one {@link ../errors.ts ValidationError} for every problem of query and body, in that order.
 */
export async function readWriteBody<S extends z.ZodObject>(
  { exchange, body, contentType }: Pick<Call, 'exchange' | 'body' | 'contentType'>,
  schema: S,
  { judge = async () => [], ...options }: SecretOptions & { readonly judge?: FieldJudge<S> } = {},
): Promise<z.output<S>> {
  const [, form] = await everyProblem(
    () => readQuery(exchange.query, noParameters),
    () => readJudgedJson(body, contentType, schema, { judge, ...options }),
  );
  return form;
}

const tokenAlone = z.object({ token: z.string() });

/**
 * The `token` of a JSON body whose other fields may be malformed; undefined if there is none. It is judged before the other
 * fields, so that a client without a valid token learns nothing about them.
 */
export function readTokenAlone(body: Uint8Array, contentType: string): string | undefined {
  try {
    return readJson(body, contentType, tokenAlone, { secret: ['token', 'password'] }).token;
  } catch (error) {
    if (error instanceof ValidationError) return undefined;
    throw error;
  }
}

/** Problems of a new password for that user, reported at the body's field `field`. */
export async function passwordProblems(
  password: string | null | undefined,
  username: string | null | undefined,
  field: string,
): Promise<readonly ValidationProblem[]> {
  if (typeof password !== 'string') return [];
  const fault = await passwordFault(password, username ?? null);
  return fault === undefined ? [] : [{ ...valueError(fault), loc: [field], input: null }];
}

/** Problems of a body's `scope_sets`: unknown ids. */
export async function scopeSetProblems(
  records: Pick<Records, 'findScopeSets'>,
  ids: readonly string[] = [],
): Promise<readonly ValidationProblem[]> {
  if (ids.length === 0) return [];
  const known = new Set((await records.findScopeSets(ids)).map(({ id }) => id));
  return ids.flatMap((id, index) =>
    known.has(id) ? [] : [{ ...valueError('no such scope set'), loc: ['scope_sets', index], input: id }],
  );
}

/**
 * Runs both readers and resolves to their results. Rejects with one {@link ValidationError} for the problems of query and body
 * together, in that order, or with any other error of a reader.
 */
export async function everyProblem<A, B>(first: () => A, second: () => Promise<B>): Promise<[A, B]> {
  const problems: ValidationProblem[] = [];
  const results = [await collect(async () => first(), problems), await collect(second, problems)];
  if (problems.length > 0) throw new ValidationError(problems);
  return results as [A, B];
}

async function collect<T>(read: () => Promise<T>, problems: ValidationProblem[]): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

/** Schema of a user name as clients send it; {@link parseUsername} turns it into the stored name. */
export function newUsername() {
  const bounds = { minimum: 1, maximum: maxUsernameCodePoints };
  return parsable(parseUsername, bounds, 'must not contain control characters').meta({
    minLength: 1,
    maxLength: maxUsernameCodePoints,
    pattern: withoutControlCharacters.source,
    description: 'Outer white space is trimmed.',
  });
}

/** Schema of a password as clients send it; {@link parsePassword} turns it into the text that is hashed. */
export function newPassword(minLength: number) {
  const bounds = { minimum: minLength, maximum: maxPasswordBytes };
  const parse = (value: string) => parsePassword(value, minLength);
  return parsable(parse, bounds, 'must be well-formed Unicode').meta({
    minLength,
    format: 'password',
    description: 'At least `passwords.min_length` characters (default 12), at most 1,024 bytes of UTF-8.',
  });
}

/** Schema of a text that `parse` accepts; `otherwise` is the message for a fault other than its length. */
function parsable(
  parse: (value: string) => string | { readonly problem: string },
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
  otherwise: string,
) {
  return z.string().check(({ value, issues }) => {
    const parsed = parse(value);
    if (typeof parsed === 'string') return;
    const issue = { origin: 'string', input: value } as const;
    if (parsed.problem === 'too_short') issues.push({ code: 'too_small', minimum, ...issue });
    else if (parsed.problem === 'too_long') issues.push({ code: 'too_big', maximum, ...issue });
    else issues.push({ code: 'custom', message: otherwise, input: value });
  });
}
