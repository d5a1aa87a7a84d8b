import type { z } from 'zod';
import { everyProblem } from '../input/every-problem.ts';
import { type FieldJudge, readJudgedJson } from '../input/json-body.ts';
import { noParameters, readQuery } from '../input/query.ts';
import type { SecretOptions } from '../input/validate.ts';
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
