import { z } from 'zod';
import type { Principal } from '../../credentials/principal.ts';
import type { Call, Endpoint } from '../../endpoints/endpoint.ts';
import type { PasswordSignIn } from '../../endpoints/password-sign-in.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Reply } from '../../http/reply.ts';
import { readForm } from '../../input/url-encoded.ts';
import { redirection, type WebArea } from '../area.ts';
import type { BrowserSessions } from '../browser-sessions.ts';
import { consoleAt } from '../console.ts';
import {
  assertMayLeadTo,
  type HostDestination,
  isAtHost,
  leadsTo,
  type ReturnTo,
  readReturnTo,
  returnToOf,
  returnToQuery,
} from '../host-destination.ts';
import { hasLostCookie } from '../led-to-sign-in.ts';
import type { Provider } from '../pages/sign-in.ts';
import { destination } from '../return-to.ts';
import { formAction, pageReply, refusedForm, sentField, shownPage } from './page.ts';
import type { RenderSignIn, WaysToSignIn } from './render-sign-in.ts';

const form = z.object({
  username: z.string().meta({ minLength: 1 }),
  password: z.string().meta({ minLength: 1 }),
  return_to: z.string().optional(),
  start: z.string().optional(),
  again: z.string().optional(),
});

/** Query parameter by which the console says that its session has ended. */
const endedParameter = 'ended';

/** Creates `<path>/sign-in`: the page, and sign-in by password. */
export function createSignInPage(options: {
  readonly area: WebArea;
  readonly sessions: BrowserSessions;
  /** Sign-in by password; null if `web.password` is false. */
  readonly login: PasswordSignIn | null;
  readonly renderSignIn: RenderSignIn;
  readonly waysOf: WaysToSignIn;
  /** The address at which a session's browser enters a named host. */
  readonly addressAtHost: (sessionId: string, destination: HostDestination) => string;
  /** Resolves to true while there is no administrator, if a page creates the first one. */
  readonly isActivationOpen: () => Promise<boolean>;
}): readonly Endpoint<'open'>[] {
  const { area, sessions, login, renderSignIn, waysOf, addressAtHost, isActivationOpen } = options;
  const path = `${area.path}/sign-in`;
  const [serviceOrigin] = area.site.origins;

  /** Leads a signed-in browser on at once; null: the console always requires a fresh sign-in. */
  function leadOn({ credentialId }: Principal, exchange: Exchange, returnTo: ReturnTo): Reply | null {
    if (isAtHost(returnTo)) return redirection(302, addressAtHost(credentialId, returnTo));
    const location = destination(area, exchange.host, returnTo);
    return consoleAt(area.console, exchange, location) === null ? redirection(303, location) : null;
  }

  const page = shownPage(path, async ({ exchange }) => {
    const returnTo = returnToOf(area, exchange);
    assertMayLeadTo(returnTo, exchange);
    const known = await sessions.current(exchange);
    // Its browser has kept the cookie, and others of its address may follow.
    if (known !== null) area.recentSignIns.forget(exchange);
    const ledOn = known === null ? null : leadOn(known, exchange, returnTo);
    if (ledOn !== null) return ledOn;
    const { password, providers, isForConsoleAlone } = await waysOf(exchange, returnTo);
    const [only, ...others] = password ? [] : providers;
    // If only the console requires the provider, people first read why.
    if (only !== undefined && others.length === 0 && !isForConsoleAlone)
      return redirection(303, providerPath(path, only, returnTo));
    const signedInAs = known?.username ?? null;
    const username = signedInAs ?? undefined;
    const hasEnded = new URLSearchParams(exchange.query).has(endedParameter);
    const isSeparate = area.originAt(exchange.host) !== serviceOrigin;
    const elsewhere = isSeparate && known === null && !hasEnded ? new URL(serviceOrigin).host : null;
    const shown = {
      returnTo,
      username,
      signedInAs,
      elsewhere,
      hasEnded,
      isActivationOpen: await isActivationOpen(),
      problem: null,
    };
    const lost = hasLostCookie(area, exchange, returnTo);
    return pageReply(await renderSignIn(exchange, { ...shown, hasLostCookie: lost }));
  });
  if (login === null) return [page];

  const post = formAction(area, path, async (call) => {
    const { exchange, body, contentType } = call;
    const returnTo = sentReturnTo(area, call);
    assertMayLeadTo(returnTo, exchange);
    try {
      const sent = readForm(body, contentType, form, { secret: ['password'] });
      const signedIn = await login.signIn(exchange, { ...sent, scope: '' });
      return await sessions.begin(exchange, signedIn, leadsTo(area, exchange, returnTo, 'password'));
    } catch (error) {
      const username = sentField(call, 'username');
      return refusedForm(area, call, error, (problem) =>
        renderSignIn(exchange, { returnTo, username, problem }),
      );
    }
  });
  return [page, post];
}

/** The destination that a form names, however malformed the form is otherwise. */
function sentReturnTo(area: WebArea, call: Pick<Call<'open'>, 'exchange' | 'body'>): ReturnTo {
  const [returnTo = null, start = null, again = null] = ['return_to', 'start', 'again'].map((name) =>
    sentField(call, name),
  );
  return readReturnTo(area, call.exchange.host, { returnTo, start, again });
}

function providerPath(path: string, { name }: Provider, returnTo: ReturnTo): string {
  return `${path}/${name}${returnToQuery(returnTo)}`;
}
