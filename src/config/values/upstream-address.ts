import { hasValidPort, hostPattern } from './authority.ts';

/** The address of an upstream. */
export type UpstreamAddress =
  | {
      readonly kind: 'server';
      readonly tls: boolean;
      /** A name, or an IP address without brackets. */
      readonly host: string;
      readonly port: number;
      /** As in a `Host` header: without the default port, IPv6 in brackets. */
      readonly authority: string;
      /** Put before the path of each request, without a slash at its end; empty: nothing is. */
      readonly basePath: string;
    }
  | { readonly kind: 'socket'; readonly path: string }
  /** The built-in upstream, which responds with the request. */
  | { readonly kind: 'echo' };

const socketPattern = /^unix:([^\0?#]+)$/;
const originPattern = new RegExp(`^(https?://${hostPattern})(/.*)?$`);
// Escapes, `;` and dot segments could be read differently from the rest of a path, which is judged as the client spells it.
const pathPattern = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~!$&'()*+,=:@-]+)+$/;

const form = 'must be http(s)://HOST:PORT without user and query, unix:PATH or builtin:echo';

/** Splits the URL of a server into its origin and its path. Throws a RangeError whose message is the rule. */
function splitUrl(text: string): { readonly origin: string; readonly path: string } {
  const [, origin, path = ''] = originPattern.exec(text) ?? [];
  if (origin === undefined || !hasValidPort(origin) || /[?#]/.test(path)) throw new RangeError(form);
  if (path === '' || pathPattern.test(path)) return { origin, path };
  const cured = path.replace(/\/+$/, '');
  if (cured === '' || pathPattern.test(cured))
    throw new RangeError(`must not end with a slash: ${origin}${cured}`);
  throw new RangeError(
    'must have a path of plain segments, without escapes, ; and empty or dot segments, or none',
  );
}

/**
 * Parses `http(s)://HOST:PORT`, with or without a path, `unix:PATH` or `builtin:echo`. Throws a RangeError, whose message is the
 * rule, for anything else.
 */
export function parseUpstreamAddress(text: string): UpstreamAddress {
  if (text === 'builtin:echo') return { kind: 'echo' };
  const [, socket] = socketPattern.exec(text) ?? [];
  if (socket !== undefined) return { kind: 'socket', path: socket };
  const { origin, path } = splitUrl(text);
  const url = URL.parse(origin);
  if (url === null) throw new RangeError(form);
  const tls = url.protocol === 'https:';
  return {
    kind: 'server',
    tls,
    // The brackets of an IPv6 address are only part of the URL.
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (tls ? 443 : 80) : Number(url.port),
    authority: url.host,
    basePath: path,
  };
}
