import type { Principal } from '../../credentials/principal.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { Refusal } from '../../errors.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Records } from '../../stores/records.ts';
import type { Sessions } from '../../stores/sessions.ts';
import { redirection, type WebArea } from '../area.ts';
import type { BrowserSessions } from '../browser-sessions.ts';
import { admits, type ConsoleLocation } from '../console.ts';
import { ledToSignIn } from '../led-to-sign-in.ts';
import { consolePage } from '../pages/console.ts';
import { pageReply, shownPage } from './page.ts';

/** Parts of the console below `<path>/console/`, each of which also has a page for each of its records. */
const parts = ['api-keys', 'sessions', 'users', 'scope-sets', 'audit', 'account'];
const places = ['', '/{id}', ...parts.map((part) => `/${part}/{id}`)];

/**
 * Creates `<path>/console/…`: one page for all addresses, whose scripts call the API. People without a session that may use the
 * console are led to the sign-in page.
 */
export function createConsole(options: {
  readonly area: WebArea;
  readonly sessions: BrowserSessions;
  readonly sessionStore: Pick<Sessions, 'find'>;
  readonly records: Pick<Records, 'findUser'>;
  readonly minPasswordLength: number;
  readonly maxKeyLifetimeMs: number | null;
  readonly baseUrl: string;
  readonly apiPath: string;
  /** The optional endpoints that Postern serves itself. */
  readonly served: readonly string[];
  /** Titles of the identity providers, by name. */
  readonly providers: Readonly<Record<string, string>>;
}): readonly Endpoint<'open'>[] {
  const { area, sessions, sessionStore, records, baseUrl: origin, ...told } = options;
  const { apiPath, minPasswordLength, maxKeyLifetimeMs, served, providers } = told;
  const { console } = area;
  if (console === null) return [];
  const home = origin + area.homeAt(new URL(origin).host);

  /** The signed-in user, if the session may use the console; null otherwise. */
  async function viewerOf(exchange: Exchange, place: ConsoleLocation): Promise<Principal | null> {
    const principal = await sessions.current(exchange);
    if (principal === null || place.requiredProvider === null) return principal;
    const session = await sessionStore.find(principal.credentialId);
    return session !== undefined && admits(place, session.method) ? principal : null;
  }

  return places.map((place) =>
    shownPage(console.path + place, async ({ exchange, id }) => {
      const { host, target, path: asked } = exchange;
      if (!console.isServedAt(host)) throw new Refusal('not_found');
      if (asked === console.path) return redirection(308, `${console.path}/`);
      if (place === '/{id}' && !parts.includes(id)) throw new Refusal('not_found');
      const viewer = await viewerOf(exchange, console);
      if (viewer === null) return ledToSignIn(area, exchange, target, asked);
      const { userId, username } = viewer;
      const hasPassword = typeof (await records.findUser(userId))?.user.passwordHash === 'string';
      const whose = { userId, username: username!, hasPassword };
      const what = {
        home,
        path: console.path,
        apiPath,
        origin,
        served,
        providers,
        minPasswordLength,
        maxKeyLifetimeMs,
      };
      return pageReply(consolePage(area.site, { ...whose, ...what }));
    }),
  );
}
