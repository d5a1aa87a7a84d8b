import type { Endpoint } from '../../endpoints/endpoint.ts';
import { Refusal } from '../../errors.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { NamedHost } from '../../http/named-hosts.ts';
import type { Reply } from '../../http/reply.ts';
import { leaving, redirection, type WebArea } from '../area.ts';
import { isHostPath, returnToQuery } from '../host-destination.ts';
import type { HostEntries, HostEntry } from '../host-entries.ts';
import type { HostSessions } from '../host-sessions.ts';
import type { HostStarts } from '../host-starts.ts';
import { startPage } from '../pages/to-host.ts';
import { browserLocation, onlyReturnTo } from '../return-to.ts';
import { actingPage } from './page.ts';

/** Dependencies of the pages by which browsers enter named hosts. */
export interface HostPagesOptions {
  readonly area: WebArea;
  readonly starts: HostStarts;
  readonly entries: HostEntries;
  /** Origin of the sign-in page. */
  readonly baseUrl: string;
  readonly sessions: Pick<HostSessions, 'held' | 'begin'>;
}

/** Value of `again` in the query of a start that follows a failure. */
const again = '1';

/** Creates `<path>/start` and `<path>/enter` of named hosts: the way to the sign-in page at `base_url`, and back with a code. */
export function createHostPages(options: HostPagesOptions): readonly Endpoint<'open'>[] {
  const { area, starts, entries, baseUrl, sessions } = options;
  const startAt = `${area.path}/start`;

  const start = actingPage(startAt, async ({ exchange }) => {
    const host = hostOf(exchange);
    const wanted = onlyReturnTo(exchange.query);
    const path = wanted !== null && isHostPath(area, wanted) ? wanted : '/';
    const isAgain = new URLSearchParams(exchange.query).get('again') === again;
    const { hash, headers } = starts.begin(exchange.head.cookie);
    const url = `${baseUrl}${area.path}/sign-in${returnToQuery({ host, path, start: hash, isAgain })}`;
    return leaving(url, startPage(area.siteOn(host), { url }), headers, host);
  });

  /** The response to a good code: the page behind it, to a browser that is the one that began, or is signed in already. */
  function admit({ code, session }: HostEntry, exchange: Exchange, held: readonly string[]): Reply {
    const { cookie } = exchange.head;
    const location = browserLocation(code.path)!.whole;
    if (starts.has(cookie, code.start))
      return redirection(303, location, [...sessions.begin(exchange, session), ...starts.clear(code.start)]);
    // Someone who has gone back in the browser.
    if (held.includes(session.id)) return redirection(303, location);
    if (code.isAgain) throw new Refusal('not_authenticated', { reason: 'cookies blocked' });
    return redirection(302, `${startAt}?return_to=${encodeURIComponent(code.path)}&again=${again}`);
  }

  const enter = actingPage(`${area.path}/enter`, async ({ exchange }) => {
    const host = hostOf(exchange);
    const [code, ...others] = new URLSearchParams(exchange.query).getAll('code');
    if (code === undefined || others.length > 0) return redirection(302, '/');
    // Whatever may be unavailable is asked before the code is spent.
    const held = await sessions.held(exchange);
    const entry = await entries.spend(code, host.name);
    return entry === null ? redirection(302, '/') : admit(entry, exchange, held);
  });
  return [start, enter];
}

/** The named host of an exchange with one of its pages. */
function hostOf({ namedHost }: Exchange): NamedHost {
  if (namedHost === null) throw new TypeError('a page of named hosts at another host');
  return namedHost;
}
