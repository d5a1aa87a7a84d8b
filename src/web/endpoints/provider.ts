import { z } from 'zod';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { readPresented } from '../../endpoints/provider-exchange.ts';
import { Refusal, ValidationError } from '../../errors.ts';
import type { Exchange } from '../../http/exchange.ts';
import { isUnseen } from '../../http/navigation.ts';
import type { RequestHead } from '../../http/request-head.ts';
import type { SignInStart } from '../../identity-providers/sign-in-start.ts';
import { readQuery } from '../../input/url-encoded.ts';
import { redirection, type WebArea } from '../area.ts';
import type { BrowserSessions } from '../browser-sessions.ts';
import { assertMayLeadTo, leadsTo, returnToOf, returnToOfStart, startTowards } from '../host-destination.ts';
import type { PageProvider } from '../page-provider.ts';
import { actingPage, refusedForm } from './page.ts';
import type { RenderSignIn } from './render-sign-in.ts';

/** Dependencies of the pages that lead to providers and back. */
export interface ProviderPagesOptions {
  readonly area: WebArea;
  readonly sessions: BrowserSessions;
  readonly renderSignIn: RenderSignIn;
  readonly now: () => number;
}

const failure = z.object({ error: z.string().optional() });

/** Creates `<path>/sign-in/{provider}` and `<path>/callback/{provider}`: the way to the provider, and back with a code. */
export function createProviderPages(
  name: string,
  providerAt: (host: string) => PageProvider,
  { area, sessions, renderSignIn, now }: ProviderPagesOptions,
): readonly Endpoint<'open'>[] {
  const start = actingPage(`${area.path}/sign-in/${name}`, async (call) => {
    const { head, host } = call.exchange;
    const { provider, cookies } = providerAt(host);
    assertSeen(head);
    const returnTo = returnToOf(area, call.exchange);
    assertMayLeadTo(returnTo, call.exchange);
    try {
      const { url, start } = await provider.start(startTowards(returnTo));
      return redirection(302, url, cookies.set(head.cookie, start, now()));
    } catch (error) {
      return refusedForm(area, call, error, (problem) => renderSignIn(call.exchange, { returnTo, problem }));
    }
  });

  const callback = actingPage(`${area.path}/callback/${name}`, async (call) => {
    const { exchange } = call;
    const page = providerAt(exchange.host);
    const { provider, signIn, cookies } = page;
    assertSeen(exchange.head);
    try {
      const presented = await presentedIn(provider, exchange.query);
      const { start, ...signedIn } = await signIn.signIn(exchange, presented);
      const returnTo = returnToOfStart(area, exchange, start);
      const reply = await sessions.begin(exchange, signedIn, leadsTo(area, exchange, returnTo, name));
      const clearing = start === null ? [] : cookies.clear(exchange.head.cookie, start);
      return { ...reply, headers: [...(reply.headers ?? []), ...clearing] };
    } catch (error) {
      // Someone who returns to this address, or reloads it, presents a used state.
      const isUnknown = error instanceof Refusal && error.code === 'invalid_assertion';
      if (isUnknown && (await sessions.current(exchange)) !== null)
        return redirection(303, area.homeAt(exchange.host));
      const returnTo = returnToOfStart(area, exchange, startOf(page, exchange));
      return refusedForm(area, call, error, (problem) => renderSignIn(exchange, { returnTo, problem }));
    }
  });
  return [start, callback];
}

/**
 * Requires a navigation that the user can see: a provider that knows the browser asks no questions, so a page of this origin
 * could sign people in unnoticed, even to the console. Throws {@link Refusal} `cross_site`.
 */
function assertSeen(head: RequestHead): void {
  if (isUnseen(head)) throw new Refusal('cross_site');
}

/** Start of a failed sign-in, whose destination is that of the next attempt; undefined unless this browser began it. */
function startOf({ provider, cookies }: PageProvider, { head, query }: Exchange): SignInStart | undefined {
  const state = new URLSearchParams(query).get('state') ?? '';
  const bindings = (start: SignInStart) => cookies.bindings(head.cookie, start);
  return provider.startOf(state, { bindings });
}

/** The provider's response. Rejects with `invalid_assertion` for the provider's error, and for a malformed response. */
async function presentedIn(provider: PageProvider['provider'], query: string) {
  try {
    if (readQuery(query, failure).error !== undefined)
      throw new Refusal('invalid_assertion', { cause: 'an error of the provider' });
    return await readPresented(provider, (schema) => readQuery(query, schema));
  } catch (error) {
    if (error instanceof ValidationError) throw new Refusal('invalid_assertion', { cause: 'no response' });
    throw error;
  }
}
