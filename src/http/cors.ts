import { meaning, meaningOf } from './header-names.ts';
import type { RequestHead } from './request-head.ts';

/** The CORS protocol (Fetch Standard §3.2) for exact origins; with none configured Postern leaves it to the upstream. */
export interface Cors {
  /** Whether Postern answers preflights and owns `Access-Control-*`. */
  readonly enabled: boolean;
  isAllowed(origin: string): boolean;
  /** Flat header list of every response. */
  responseHeaders(head: RequestHead): readonly string[];
  /** Flat header list of the 204 to a preflight, beside that of every response. */
  preflightHeaders(head: RequestHead): readonly string[];
}

const maxAgeSeconds = '600';
const exposed = 'X-Request-Id, WWW-Authenticate, Retry-After';
const vary = ['Vary', 'Origin'] as const;
const methodName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const headerNameList = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]+)*$/;

/** `OPTIONS` with one `Origin` and one `Access-Control-Request-Method`, no body and no other protocol in mind. */
export function isPreflight(method: string, head: RequestHead): boolean {
  const asks = head.originCount === 1 && head.requestMethodCount === 1;
  return method === 'OPTIONS' && asks && !head.hasBody && head.upgradeCount === 0;
}

/** `origins` as browsers write them: scheme, host and a port that is not the scheme's own. */
export function createCors(origins: readonly string[]): Cors {
  const allowed = new Set(origins);
  const enabled = allowed.size > 0;
  const isAllowed = (origin: string) => allowed.has(origin);
  return {
    enabled,
    isAllowed,
    responseHeaders(head) {
      if (!enabled) return [];
      if (head.originCount !== 1 || !isAllowed(head.origin)) return vary;
      return [
        'Access-Control-Allow-Origin',
        head.origin,
        'Access-Control-Allow-Credentials',
        'true',
        'Access-Control-Expose-Headers',
        exposed,
        ...vary,
      ];
    },
    preflightHeaders(head) {
      if (!enabled || !isAllowed(head.origin) || !methodName.test(head.requestMethod)) return [];
      const headers = [
        'Access-Control-Allow-Methods',
        head.requestMethod,
        'Access-Control-Max-Age',
        maxAgeSeconds,
      ];
      const names = requestedHeaders(head);
      if (names !== '' && headerNameList.test(names)) headers.push('Access-Control-Allow-Headers', names);
      return headers;
    },
  };
}

function requestedHeaders(head: RequestHead): string {
  for (let i = 0; i < head.raw.length; i += 2) {
    const name = head.raw[i]!;
    if (meaningOf(name) === meaning.plain && name.toLowerCase() === 'access-control-request-headers')
      return head.raw[i + 1]!;
  }
  return '';
}
