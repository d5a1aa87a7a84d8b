import { z } from 'zod';
import type { Call, CallerOf, Endpoint, Guard } from '../../endpoints/endpoint.ts';
import type { Reply } from '../../http/reply.ts';
import { readForm } from '../../input/form-body.ts';

/**
 * Calls an endpoint of the API with the fields of a form, so that no rule is written twice; blank fields are left out. Rejects as
 * the endpoint does, and with a `ValidationError` for repeated fields.
 */
export function callApi<G extends Guard>(
  endpoint: Endpoint<G>,
  { exchange, body, contentType, id }: Call<'open'>,
  fieldNames: readonly string[],
  caller: { readonly principal: CallerOf<G>; readonly recheck: () => Promise<CallerOf<G>> },
): Promise<Reply> {
  const form = z.object(Object.fromEntries(fieldNames.map((name) => [name, z.string().optional()])));
  const fields = readForm(body, contentType, form, { secret: fieldNames });
  const json = Buffer.from(JSON.stringify(fields));
  return endpoint.handle({ exchange, id, body: json, contentType: 'application/json', ...caller });
}

/** The caller of an open endpoint. */
export const anyone = { principal: null, recheck: async () => null };
