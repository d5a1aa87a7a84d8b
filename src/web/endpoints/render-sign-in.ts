import type { WebArea } from '../area.ts';
import type { Provider } from '../components/provider-link.ts';
import type { Problem } from '../pages/problem.ts';
import { signInPage } from '../pages/sign-in.ts';

/** The sign-in page in all its states. */
export type RenderSignIn = (shown: {
  readonly returnTo: string | null;
  readonly username?: string | undefined;
  readonly problem: Problem | null;
}) => Promise<string>;

/** Creates it; `offered` are the providers that can be led to. */
export function createRenderSignIn(
  { site }: Pick<WebArea, 'site'>,
  password: boolean,
  offered: () => Promise<readonly Provider[]>,
): RenderSignIn {
  return async ({ returnTo, username = '', problem }) =>
    signInPage(site, { password, providers: await offered(), returnTo, username, problem });
}
