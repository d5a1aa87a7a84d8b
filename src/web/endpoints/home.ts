import type { Endpoint } from '../../endpoints/endpoint.ts';
import { areaOf } from '../../rules/own-areas.ts';
import type { Records } from '../../stores/records.ts';
import { redirection, type WebArea } from '../area.ts';
import type { BrowserSessions } from '../browser-sessions.ts';
import { ledToSignIn } from '../led-to-sign-in.ts';
import { homePage } from '../pages/home.ts';
import { pageReply, shownPage } from './page.ts';

/** Creates `<path>/`, the page of the signed-in user; others are led to the sign-in page. */
export function createHome(options: {
  readonly area: WebArea;
  readonly sessions: BrowserSessions;
  readonly records: Pick<Records, 'findUser'>;
  readonly hasPasswordPage: boolean;
}): Endpoint<'open'> {
  const { area, sessions, records, hasPasswordPage } = options;
  const { path, site } = area;
  return shownPage(path, async ({ exchange }) => {
    if (exchange.path === path) return redirection(308, `${path}/`);
    const principal = await sessions.current(exchange);
    if (principal === null) return ledToSignIn(area, exchange, null);
    const { userId, username, displayName } = principal;
    const hasPassword =
      hasPasswordPage && typeof (await records.findUser(userId))?.user.passwordHash === 'string';
    const start = area.homeAt(exchange.host);
    const application = areaOf(start.split(/[?#]/, 1)[0]!, [path]) === undefined ? start : null;
    const console = area.console?.url ?? null;
    return pageReply(homePage(site, { username: username!, displayName, hasPassword, application, console }));
  });
}
