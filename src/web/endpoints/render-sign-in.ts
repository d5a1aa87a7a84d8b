import type { Exchange } from '../../http/exchange.ts';
import type { WebArea } from '../area.ts';
import type { Provider } from '../components/provider-link.ts';
import { admits, consoleAt } from '../console.ts';
import type { Problem } from '../pages/problem.ts';
import { signInPage } from '../pages/sign-in.ts';
import { destination } from '../return-to.ts';

/** Renders the sign-in page in a state, with the ways to sign in that lead to its destination. */
export type RenderSignIn = (
  exchange: Exchange,
  shown: {
    readonly returnTo: string | null;
    readonly username?: string | undefined;
    readonly signedInAs?: string | null;
    readonly hasEnded?: boolean;
    readonly hasLostCookie?: boolean;
    readonly problem: Problem | null;
  },
) => Promise<string>;

/** Creates the renderer of the sign-in page. */
export function createRenderSignIn(area: WebArea, waysOf: WaysToSignIn): RenderSignIn {
  return async (exchange, { username = '', ...shown }) =>
    signInPage(area.site, { ...(await waysOf(exchange, shown.returnTo)), ...shown, username });
}

/** Finds the ways to sign in that lead to `returnTo`. */
export type WaysToSignIn = (exchange: Exchange, returnTo: string | null) => Promise<Ways>;

/** Ways to sign in. */
export interface Ways {
  readonly password: boolean;
  readonly providers: readonly Provider[];
  /** True if the console has ruled out other ways. */
  readonly isForConsoleAlone: boolean;
}

/** Creates the finder; `offered`: usable providers. */
export function createWaysToSignIn(
  area: WebArea,
  password: boolean,
  offered: () => Promise<readonly Provider[]>,
): WaysToSignIn {
  return async (exchange, returnTo) => {
    const console = consoleAt(area.console, exchange, destination(area, exchange.head.host, returnTo));
    const leads = (method: string) => console === null || admits(console, method);
    const providers = (await offered()).filter(({ name }) => leads(name));
    const isForConsoleAlone = password && !leads('password');
    return { password: password && leads('password'), providers, isForConsoleAlone };
  };
}
