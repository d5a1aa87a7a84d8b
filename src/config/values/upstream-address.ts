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
    }
  | { readonly kind: 'socket'; readonly path: string }
  /** The built-in upstream, which responds with the request. */
  | { readonly kind: 'echo' };

const socketPattern = /^unix:([^\0?#]+)$/;
const serverPattern = new RegExp(`^https?://${hostPattern}$`);

const form = 'must be http(s)://HOST:PORT without user, path and query, unix:PATH or builtin:echo';

/** The rule that a malformed address breaks, with the cure for a path, which many proxies put before that of the request. */
function ruleBrokenBy(text: string): string {
  const [, origin] = /^(https?:\/\/[^/?#@]+)\/[^?#]*$/.exec(text) ?? [];
  return origin !== undefined && serverPattern.test(origin) && hasValidPort(origin)
    ? `must be without a path, ${origin}: paths are forwarded as they are`
    : form;
}

/**
 * Parses `http(s)://HOST:PORT`, `unix:PATH` or `builtin:echo`. Throws a RangeError, whose message is the rule, for anything else.
 */
export function parseUpstreamAddress(text: string): UpstreamAddress {
  if (text === 'builtin:echo') return { kind: 'echo' };
  const [, path] = socketPattern.exec(text) ?? [];
  if (path !== undefined) return { kind: 'socket', path };
  const url = serverPattern.test(text) && hasValidPort(text) ? URL.parse(text) : null;
  if (url === null) throw new RangeError(ruleBrokenBy(text));
  const tls = url.protocol === 'https:';
  return {
    kind: 'server',
    tls,
    // The brackets of an IPv6 address are only part of the URL.
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (tls ? 443 : 80) : Number(url.port),
    authority: url.host,
  };
}
