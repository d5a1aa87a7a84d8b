import { z } from 'zod';
import type { Call, CallerOf, Endpoint, Guard } from '../../endpoints/endpoint.ts';
import { Refusal, ValidationError } from '../../errors.ts';
import { assertNotForeignPage } from '../../http/foreign-page.ts';
import { assertNoPrefetch } from '../../http/prefetch.ts';
import { type Reply, refusalParts } from '../../http/reply.ts';
import { readForm } from '../../input/url-encoded.ts';
import { htmlContent, type WebArea } from '../area.ts';
import type { Problem } from '../pages/problem.ts';

type Handle = Endpoint<'open'>['handle'];

/** Creates the endpoint of a page whose request has no effect. */
export function shownPage(path: string, handle: Handle): Endpoint<'open'> {
  return { method: 'GET', path, guard: 'open', handle };
}

/** Creates the endpoint of a page whose request has an effect, so that prefetches and HEAD are refused. */
export function actingPage(path: string, handle: Handle): Endpoint<'open'> {
  return {
    ...shownPage(path, async (call) => {
      assertNoPrefetch(call.exchange.head);
      return handle(call);
    }),
    noHead: true,
  };
}

/** Creates the endpoint that receives one of our own forms; forms sent by other sites' pages, and prefetches, are refused. */
export function formAction(area: WebArea, path: string, handle: Handle): Endpoint<'open'> {
  return {
    method: 'POST',
    path,
    guard: 'open',
    async handle(call) {
      const { head, namedHost } = call.exchange;
      assertNotForeignPage(head, namedHost === null ? area.isOwnOrigin : namedHost.isOwnOrigin);
      assertNoPrefetch(head);
      return handle(call);
    },
  };
}

/** The page of a form whose content was refused, with status and headers of the refusal; rethrows other errors. */
export async function refusedForm(
  { site }: WebArea,
  { exchange }: Call<'open'>,
  error: unknown,
  render: (problem: Problem) => string | Promise<string>,
): Promise<Reply> {
  if (!(error instanceof Refusal || error instanceof ValidationError)) throw error;
  const { status, code, headers } = refusalParts(error, site.tenant, exchange.id, false);
  exchange.outcome = code;
  return { status, headers, content: htmlContent(await render(problemOf(error))) };
}

function problemOf(error: Refusal | ValidationError): Problem {
  if (error instanceof ValidationError) return error;
  return { code: error.code, retryAfterSeconds: error.options.retryAfterSeconds };
}

/** A page as a reply with status 200. */
export function pageReply(document: string): Reply {
  return { status: 200, content: htmlContent(document) };
}

/** A sent field's value, to be shown again. Never throws: the form may have been refused because of the field. */
export function sentField({ body }: Pick<Call<'open'>, 'body'>, name: string): string | undefined {
  return new URLSearchParams(body.toString()).get(name) ?? undefined;
}

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

/** The unidentified caller of an open endpoint, for {@link callApi}. */
export const anyone = { principal: null, recheck: async () => null };
