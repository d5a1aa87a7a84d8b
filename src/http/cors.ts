import { meaning, meaningOf } from './header-names.ts';
import type { RequestHead } from './request-head.ts';

/** The CORS protocol (Fetch Standard §3.2) for exact origins; if none are configured, CORS is left to the upstream. */
export interface Cors {
  /** True if Postern responds to preflights and sets `Access-Control-*`. */
  readonly enabled: boolean;
  isAllowed(origin: string): boolean;
  /** CORS headers of the response to any request, names and values in turn. */
  responseHeaders(request: CorsRequest): readonly string[];
  /** Further headers of the 204 to a preflight, names and values in turn. */
  preflightHeaders(request: CorsRequest): readonly string[];
}

/** The relevant parts of a request. */
export interface CorsRequest {
  readonly head: RequestHead;
  /** The host that it is for: from a trusted proxy, the one that the proxy names. */
  readonly host: string;
}

const maxAgeSeconds = '600';
/** Response headers that pages may always read. */
const exposedNames = ['X-Request-Id', 'WWW-Authenticate', 'Retry-After', 'ETag', 'Mcp-Session-Id'] as const;
const vary = ['Vary', 'Origin'] as const;
const methodName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const headerNameList = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]+)*$/;

/** True for a request that is `OPTIONS` with one `Origin`, one `Access-Control-Request-Method`, no body and no `Upgrade`. */
export function isPreflight(method: string, head: RequestHead): boolean {
  const asks = head.originCount === 1 && head.requestMethodCount === 1;
  return method === 'OPTIONS' && asks && !head.hasBody && head.upgradeCount === 0;
}

/**
 * Creates the CORS protocol. `origins` are spelled as browsers send them: scheme, host, and the port unless it is the default.
 * `expose`: further response headers that pages of these origins may read. `isClosed`: returns true for a host under which no
 * page of another origin may read responses.
 */
export function createCors(
  { origins, expose = [] }: { readonly origins: readonly string[]; readonly expose?: readonly string[] },
  isClosed: (host: string) => boolean = () => false,
): Cors {
  const allowed = new Set(origins);
  const enabled = allowed.size > 0;
  const exposed = [...exposedNames, ...expose].join(', ');
  const isAllowed = (origin: string) => allowed.has(origin);
  return {
    enabled,
    isAllowed,
    responseHeaders({ head, host }) {
      if (!enabled || isClosed(host)) return [];
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
    preflightHeaders({ head, host }) {
      if (!enabled || isClosed(host) || !isAllowed(head.origin) || !methodName.test(head.requestMethod))
        return [];
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
