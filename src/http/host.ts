import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import { Refusal } from '../errors.ts';
import { canonicalAddress } from '../http1/server/peer-address.ts';
import type { RequestHead } from './request-head.ts';

/** Creates a test for an origin's host and port in a Host header (RFC 9110 §7.2): any letter case, default port optional. */
export function createIsHostOf(origin: string): (host: string) => boolean {
  const { host, hostname, port, protocol } = new URL(origin);
  const spelt = new Set([host, `${hostname}.${port === '' ? '' : `:${port}`}`]);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  if (port === '') for (const name of [hostname, `${hostname}.`]) spelt.add(`${name}:${defaultPort}`);
  return (sent) => spelt.has(sent.toLowerCase());
}

/**
 * Refuses a Host header that isn't a loopback name or address (RFC 6761 §6.3, RFC 1122 §3.2.1.3): otherwise a foreign page whose
 * name was rebound to this machine (DNS rebinding) would pass for a page of `base_url`. Throws `misdirected`.
 */
export function assertLoopbackHost({ host, hostCount }: Pick<RequestHead, 'host' | 'hostCount'>): void {
  if (hostCount > 0 && !isLoopbackName(host.replace(/:\d*$/, '').toLowerCase()))
    throw new Refusal('misdirected', { close: true });
}

/** True if a host (without a port, IPv6 in brackets or not) can only be this machine. */
export function isLoopbackName(name: string): boolean {
  const bare = name.replace(/^\[(.*)\]$/, '$1');
  if (isIPv6(bare))
    return isLoopbackAddress(canonicalAddress(new SocketAddress({ address: bare, family: 'ipv6' }).address));
  return isLoopbackAddress(bare) || /^(?:[^.]+\.)*localhost\.?$/.test(bare);
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}

/** Creates a test for an origin's host at any port in a Host header: browsers send cookies to all ports (RFC 6265 §8.5). */
export function createIsNameOf(origin: string): (host: string) => boolean {
  const { hostname } = new URL(origin);
  return (sent) => {
    const host = sent.toLowerCase();
    return host.startsWith(hostname) && /^\.?(?::\d*)?$/.test(host.slice(hostname.length));
  };
}
