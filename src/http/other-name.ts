import { createIsHostOf } from './host.ts';
import type { NamedHost } from './named-hosts.ts';
import type { RequestHead } from './request-head.ts';

/** A name in a refused request that isn't Postern's own. */
export interface OtherName {
  /** Header that contains the name. */
  readonly header: 'origin' | 'host';
  /** The name: an origin, or the value of `Host`. It comes from the client, and says nothing about who sent the request. */
  readonly sent: string;
  /** Postern's own origin: `base_url`, or the console's. */
  readonly expected: string;
  /** True if Postern itself was called by that name; false if a page of another site sent the request. */
  readonly isOfPostern: boolean;
}

/** Finds the other name that explains the refusal of a request; null: there is none. */
export type FindOtherName = (
  request: { readonly head: RequestHead; readonly namedHost: NamedHost | null },
  code: string,
) => OtherName | null;

/**
 * Creates the {@link FindOtherName}. `origins`: Postern's own origins, in place of which a named host has its own. The result
 * explains a refusal, and never undoes it: under DNS rebinding, a page of another site passes for one that was opened under
 * another name.
 */
export function createFindOtherName(origins: readonly [string, ...string[]]): FindOtherName {
  const hosts = origins.map((origin) => ({ origin, isHostOf: createIsHostOf(origin) }));
  const expectedAt = (host: string) => hosts.find(({ isHostOf }) => isHostOf(host))?.origin ?? origins[0];
  return ({ head, namedHost }, code) => {
    const { host, origin, originCount } = head;
    if (code === 'misdirected')
      return {
        header: 'host',
        sent: host.slice(0, maxLength),
        expected: expectedAt(host),
        isOfPostern: true,
      };
    if (code !== 'cross_site' || originCount !== 1 || !isOrigin(origin)) return null;
    const isOwn = namedHost === null ? origins.includes(origin) : namedHost.isOwnOrigin(origin);
    if (isOwn) return null;
    const expected = namedHost === null ? expectedAt(host) : namedHost.origin;
    return { header: 'origin', sent: origin, expected, isOfPostern: isSameOrigin(head) };
  };
}

/** Maximum length of a name in the log. */
const maxLength = 300;

/** True for the origin of a page at an http or https address; false for `null` and for any other text. */
function isOrigin(text: string): boolean {
  return text.length <= maxLength && /^https?:/.test(text) && URL.parse(text)?.origin === text;
}

/**
 * True if the page that sent a request is of the origin that it was sent to: the browser says so, or, over http, where browsers
 * send no Fetch metadata (Fetch Metadata §2), `Origin` names the host that was called.
 */
function isSameOrigin({ secFetchSite, origin, host }: RequestHead): boolean {
  if (secFetchSite !== '') return secFetchSite === 'same-origin';
  return origin.startsWith('http:') && createIsHostOf(origin)(host);
}
