import { z } from 'zod';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { PasswordSignIn } from '../../endpoints/login.ts';
import { readForm } from '../../input/form-body.ts';
import type { WebArea } from '../area.ts';
import type { BrowserSessions } from '../browser-sessions.ts';
import type { Provider } from '../components/provider-link.ts';
import { destination, returnToOf } from '../return-to.ts';
import { formAction, pageReply, refusedForm, shownPage } from './page.ts';
import type { RenderSignIn } from './sign-in-form.ts';

const form = z.object({
  username: z.string().meta({ minLength: 1 }),
  password: z.string().meta({ minLength: 1 }),
  return_to: z.string().optional(),
});

/** What is read of a refused form, to be shown again. */
const shownAgain = z.object({
  username: z.string().optional().catch(undefined),
  return_to: z.string().optional().catch(undefined),
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
    if (isSignedIn) return { status: 303, headers: ['Location', destination(area, returnTo)] };
    const [only, ...others] = login === null ? await offered() : [];
    if (only !== undefined && others.length === 0)
      return { status: 303, headers: ['Location', providerPath(path, only, returnTo)] };
    return pageReply(await renderSignIn({ returnTo, problem: null }));
  });
  if (login === null) return [page];

  const post = formAction(area, path, async (call) => {
    const { exchange, body, contentType } = call;
    try {
      const {
        username,
        password,
        return_to: returnTo,
      } = readForm(body, contentType, form, {
        secret: ['password'],
      });
      const { session } = await login.signIn(exchange, { username, password, scope: '' });
      return await sessions.begin(exchange, session, destination(area, returnTo ?? null));
    } catch (error) {
      const { username, return_to: returnTo = null } = readForm(body, contentType, shownAgain);
      return refusedForm(area, call, error, (problem) => renderSignIn({ returnTo, username, problem }));
    }
  });
  return [page, post];
}

function providerPath(path: string, { name }: Provider, returnTo: string | null): string {
  return `${path}/${name}${returnTo === null ? '' : `?return_to=${encodeURIComponent(returnTo)}`}`;
}
