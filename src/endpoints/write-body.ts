import { z } from 'zod';
import { passwordFault } from '../credentials/password-rules.ts';
import { ValidationError, type ValidationProblem } from '../errors.ts';
import { everyProblem } from '../input/every-problem.ts';
import { type FieldJudge, readJson, readJudgedJson } from '../input/json-body.ts';
import { valueError } from '../input/pydantic-problems.ts';
import { noParameters, readQuery } from '../input/query.ts';
import type { SecretOptions } from '../input/validate.ts';
import type { Records } from '../stores/records.ts';
import type { Call } from './endpoint.ts';

/**
 * The JSON body of a call that changes something and takes no query parameter. A client that sends a parameter expects
 * something that would not happen.
 *
 * Throws {@link ../errors.ts ValidationError} with every problem of query and body at once, in that order.
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
 * The `token` of a JSON body whose other fields may be malformed; undefined without one. What the token grants is judged
 * before them: without it nothing more can be learned.
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
