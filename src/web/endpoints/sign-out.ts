import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Session } from '../../stores/sessions.ts';
import { leaving, redirection, type WebArea } from '../area.ts';
import type { BrowserSessions } from '../browser-sessions.ts';
import { endSessionUrlOf, type PageProvider } from '../page-provider.ts';
import { endSessionPage, signedOutHerePage, signedOutPage, signOutPage } from '../pages/sign-out.ts';
import { formAction, pageReply, shownPage } from './page.ts';

/**
 * Creates `<path>/sign-out` and `<path>/signed-out`, which end the browser's sessions here, and then at the provider. `sessions`:
 * those of the hosts where the pages are.
 */
export function createSignOut(options: {
  readonly area: WebArea;
  readonly sessions: Pick<BrowserSessions, 'end' | 'forgetting'>;
  readonly providers: readonly PageProvider[];
  /** Creates an unguessable `state` for a sign-out at the provider. */
  readonly newState: () => string;
}): readonly Endpoint<'open'>[] {
  const { area, sessions, providers } = options;
  const signedOut = `${area.path}/signed-out`;
  const providerOf = ({ method }: Session) => providers.find(({ name }) => name === method);

  const siteAt = ({ namedHost }: Exchange) => (namedHost === null ? area.site : area.siteOn(namedHost));
  /** Origin to which a provider leads back: no provider knows those of named hosts. */
  const originAt = ({ namedHost, host }: Exchange) =>
    namedHost === null ? area.originAt(host) : area.site.origins[0];
  const [baseUrl] = area.site.origins;
  const atBaseUrl = { host: new URL(baseUrl).host, url: `${baseUrl}${area.path}/sign-out` };
  // Without a live session there, a named host can't tell which one of base_url the browser has by now.
  const whatIsLeft = ({ namedHost }: Exchange, ended: readonly Session[]) =>
    namedHost !== null && ended.length === 0 ? '?session=none' : '';

  return [
    shownPage(`${area.path}/sign-out`, async ({ exchange }) =>
      pageReply(signOutPage(siteAt(exchange), { hasHosts: area.findByOrigin !== null })),
    ),
    formAction(area, `${area.path}/sign-out`, async ({ exchange }) => {
      const ended = await sessions.end(exchange);
      const forgetting = sessions.forgetting(exchange);
      const [first] = ended.flatMap((session) => {
        const provider = providerOf(session);
        return provider === undefined ? [] : [{ session, provider }];
      });
      if (first === undefined) return redirection(303, signedOut + whatIsLeft(exchange, ended), forgetting);
      const { session, provider } = first;
      const back = originAt(exchange) + signedOut;
      const url = await endSessionUrlOf(provider, session, back, options.newState());
      if (url === null) return redirection(303, `${signedOut}?provider=${provider.name}`, forgetting);
      const page = endSessionPage(siteAt(exchange), { provider: provider.label, url });
      return leaving(url, page, forgetting, exchange.namedHost);
    }),
    shownPage(signedOut, async ({ exchange }) => {
      const query = new URLSearchParams(exchange.query);
      if (exchange.namedHost !== null && query.get('session') === 'none')
        return pageReply(signedOutHerePage(siteAt(exchange), atBaseUrl));
      const name = query.get('provider');
      const stillSignedInAt = providers.find((provider) => provider.name === name)?.label ?? null;
      return pageReply(signedOutPage(siteAt(exchange), { stillSignedInAt }));
    }),
  ];
}
