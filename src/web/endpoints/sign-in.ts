import { z } from 'zod';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { PasswordSignIn } from '../../endpoints/login.ts';
import { readForm } from '../../input/form-body.ts';
import { redirection, type WebArea } from '../area.ts';
import type { BrowserSessions } from '../browser-sessions.ts';
import type { Provider } from '../components/provider-link.ts';
import { destination, returnToOf } from '../return-to.ts';
import { formAction, pageReply, refusedForm, sentField, shownPage } from './page.ts';
import type { RenderSignIn } from './render-sign-in.ts';

const form = z.object({
  username: z.string().meta({ minLength: 1 }),
  password: z.string().meta({ minLength: 1 }),
  return_to: z.string().optional(),
});

/** What the sign-in page needs. */
export interface SignInPageOptions {
  readonly area: WebArea;
  readonly sessions: BrowserSessions;
  /** Null: `web.password` is false. */
  readonly login: PasswordSignIn | null;
  readonly renderSignIn: RenderSignIn;
  /** The providers that can be led to. */
  readonly offered: () => Promise<readonly Provider[]>;
}

/** `<path>/sign-in`: the page, and sign-in by password. */
export function createSignInPage(options: SignInPageOptions): readonly Endpoint<'open'>[] {
  const { area, sessions, login, renderSignIn, offered } = options;
  const path = `${area.path}/sign-in`;

  const page = shownPage(path, async ({ exchange }) => {
    const returnTo = returnToOf(exchange.query);
    const isSignedIn = (await sessions.current(exchange)) !== null;
    if (isSignedIn) return redirection(303, destination(area, returnTo));
    const [only, ...others] = login === null ? await offered() : [];
    if (only !== undefined && others.length === 0)
      return redirection(303, providerPath(path, only, returnTo));
    return pageReply(await renderSignIn({ returnTo, problem: null }));
  });
  if (login === null) return [page];

  const post = formAction(area, path, async (call) => {
    const { exchange, body, contentType } = call;
    try {
      const sent = readForm(body, contentType, form, { secret: ['password'] });
      const { session } = await login.signIn(exchange, { ...sent, scope: '' });
      return await sessions.begin(exchange, session, destination(area, sent.return_to ?? null));
    } catch (error) {
      const [username, returnTo = null] = [sentField(call, 'username'), sentField(call, 'return_to')];
      return refusedForm(area, call, error, (problem) => renderSignIn({ returnTo, username, problem }));
    }
  });
  return [page, post];
}

function providerPath(path: string, { name }: Provider, returnTo: string | null): string {
  return `${path}/${name}${returnTo === null ? '' : `?return_to=${encodeURIComponent(returnTo)}`}`;
}
