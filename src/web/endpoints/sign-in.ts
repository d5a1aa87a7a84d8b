import { z } from 'zod';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { PasswordSignIn } from '../../endpoints/password-sign-in.ts';
import { readForm } from '../../input/url-encoded.ts';
import { redirection, type WebArea } from '../area.ts';
import type { BrowserSessions } from '../browser-sessions.ts';
import { consoleAt } from '../console.ts';
import { hasLostCookie } from '../led-to-sign-in.ts';
import type { Provider } from '../pages/sign-in.ts';
import { destination, destinationOf, isReturnTo, returnToOf, returnToQuery } from '../return-to.ts';
import { formAction, pageReply, refusedForm, sentField, shownPage } from './page.ts';
import type { RenderSignIn, WaysToSignIn } from './render-sign-in.ts';

const form = z.object({
  username: z.string().meta({ minLength: 1 }),
  password: z.string().meta({ minLength: 1 }),
  return_to: z.string().optional(),
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
  /** Resolves to true while there is no administrator, if a page creates the first one. */
  readonly isActivationOpen: () => Promise<boolean>;
}): readonly Endpoint<'open'>[] {
  const { area, sessions, login, renderSignIn, waysOf, isActivationOpen } = options;
  const path = `${area.path}/sign-in`;
  const [serviceOrigin] = area.site.origins;

  const page = shownPage(path, async ({ exchange }) => {
    const returnTo = returnToOf(exchange.query);
    const location = destination(area, exchange.host, returnTo);
    // The console always requires a fresh sign-in.
    const isAsked = consoleAt(area.console, exchange, location) !== null;
    const known = await sessions.current(exchange);
    if (!isAsked && known !== null) return redirection(303, location);
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
    const lost = hasLostCookie(area, exchange);
    return pageReply(await renderSignIn(exchange, { ...shown, hasLostCookie: lost }));
  });
  if (login === null) return [page];

  const post = formAction(area, path, async (call) => {
    const { exchange, body, contentType } = call;
    try {
      const sent = readForm(body, contentType, form, { secret: ['password'] });
      const signedIn = await login.signIn(exchange, { ...sent, scope: '' });
      const location = destinationOf(area, exchange, sent.return_to ?? null, 'password');
      return await sessions.begin(exchange, signedIn, location);
    } catch (error) {
      const [username, back = ''] = [sentField(call, 'username'), sentField(call, 'return_to')];
      const returnTo = isReturnTo(back) ? back : null;
      return refusedForm(area, call, error, (problem) =>
        renderSignIn(exchange, { returnTo, username, problem }),
      );
    }
  });
  return [page, post];
}

function providerPath(path: string, { name }: Provider, returnTo: string | null): string {
  return `${path}/${name}${returnToQuery(returnTo)}`;
}
