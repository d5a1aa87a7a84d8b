import type { Exchange } from '../../http/exchange.ts';
import type { WebArea } from '../area.ts';
import { admits, consoleAt } from '../console.ts';
import { isAtHost, type ReturnTo } from '../host-destination.ts';
import { type Provider, type SignIn, signInPage } from '../pages/sign-in.ts';
import { destination } from '../return-to.ts';

/** Ways to sign in. */
type Ways = Pick<SignIn, 'password' | 'providers' | 'isForConsoleAlone'>;

/** Finds the ways to sign in that lead to `returnTo`. */
export type WaysToSignIn = (exchange: Exchange, returnTo: ReturnTo) => Promise<Ways>;

/** Renders the sign-in page in a state, with the ways to sign in that lead to its destination. */
export type RenderSignIn = (exchange: Exchange, shown: Omit<SignIn, keyof Ways>) => Promise<string>;

/** Creates the renderer of the sign-in page. */
export function createRenderSignIn(area: WebArea, waysOf: WaysToSignIn): RenderSignIn {
  return async (exchange, shown) =>
    signInPage(area.siteAt(exchange.host), { ...(await waysOf(exchange, shown.returnTo)), ...shown });
}

/** Creates the finder of ways to sign in. `password`: true if passwords are accepted; `offered` finds the providers to offer. */
export function createWaysToSignIn(
  area: WebArea,
  password: boolean,
  offered: () => Promise<readonly Provider[]>,
): WaysToSignIn {
  return async (exchange, returnTo) => {
    const location = isAtHost(returnTo) ? null : destination(area, exchange.host, returnTo);
    const console = location === null ? null : consoleAt(area.console, exchange, location);
    const leads = (method: string) => console === null || admits(console, method);
    const providers = (await offered()).filter(({ name }) => leads(name));
    const isForConsoleAlone = password && !leads('password');
    return { password: password && leads('password'), providers, isForConsoleAlone };
  };
}
