import type { InsteadOf, RefusalParts, Reply } from '../http/reply.ts';
import type { Mode } from './modes.ts';

/**
 * Adapts the responses that browsers get instead of refusals: each has the code in `X-Auth-Code`, and a proxy that can't hand on
 * a redirect gets its location in `X-Auth-Location` of a 401.
 */
export function leadingBrowsers({ redirectsItself }: Mode, insteadOf: InsteadOf): InsteadOf {
  return (request, refusal, parts) => {
    const reply = insteadOf(request, refusal, parts);
    const location = reply === null ? null : locationOf(reply);
    if (reply === null || location === null) return reply;
    return redirectsItself ? toBeRedirected(parts, location) : withCode(reply, parts);
  };
}

/** The location of a redirect; null for any other reply. */
function locationOf({ status, headers = [] }: Reply): string | null {
  const at = status >= 300 && status < 400 ? headers.indexOf('Location') : -1;
  return at < 0 ? null : headers[at + 1]!;
}

function toBeRedirected(parts: RefusalParts, location: string): Reply {
  return { ...parts, status: 401, headers: [...parts.headers, 'X-Auth-Location', location] };
}

function withCode(reply: Reply, { code }: RefusalParts): Reply {
  return { ...reply, headers: [...(reply.headers ?? []), 'X-Auth-Code', code] };
}
