import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import ipaddr from 'ipaddr.js';
import { addressKey } from '../credentials/address-key.ts';
import { keptText } from '../http1/message/copied-text.ts';
import { canonicalAddress } from '../http1/server/peer-address.ts';
import { RecentCache } from '../stores/recent-cache.ts';

const cachedAddresses = 1_000;

/** The proxies whose `X-Forwarded-*` headers are trusted. */
export interface TrustedProxies {
  isTrusted(address: string): boolean;
}

/** Creates the set of proxies; `ranges` are addresses or CIDR blocks that the configuration has checked. */
export function createTrustedProxies(ranges: readonly string[]): TrustedProxies {
  const blocks = ranges.map(blockOf);
  if (blocks.length === 0) return { isTrusted: () => false };
  // Called for every request, mostly with the same few peers.
  const known = new RecentCache<boolean>(cachedAddresses);
  const isWithin = (address: string): boolean => {
    // An IPv4-compatible address (RFC 4291 §2.5.5.1), whose shortest spelling ipaddr.js takes for an IPv4-mapped one.
    const spelled = address.replace(/^::(?=\d+\.)/, '::0:');
    if (!ipaddr.isValid(spelled)) return false;
    const parsed = ipaddr.process(spelled);
    return blocks.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits));
  };
  return {
    isTrusted(address) {
      let isTrusted = known.get(address);
      if (isTrusted === undefined) {
        isTrusted = isWithin(address);
        known.set(keptText(address), isTrusted);
      }
      return isTrusted;
    },
  };
}

/** Number of bits before the IPv4 address in an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2). */
const mappedBits = 96;

/** The first address of a block and the length of its prefix; a block of IPv4-mapped addresses becomes one of IPv4. */
function blockOf(range: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (!range.includes('/')) {
    const parsed = ipaddr.process(range);
    return [parsed, parsed.kind() === 'ipv4' ? 32 : 128];
  }
  const [base, bits] = ipaddr.parseCIDR(range);
  if (bits < mappedBits || !(base instanceof ipaddr.IPv6) || !base.isIPv4MappedAddress()) return [base, bits];
  return [base.toIPv4Address(), bits - mappedBits];
}

/**
 * The client's address: the first that isn't a trusted proxy, from the peer on and then from right to left in `X-Forwarded-For`;
 * the client itself may have written anything further left. If the list ends or can't be read before that, the last proxy found.
 */
export function clientAddress(peer: string, forwardedFor: string, proxies: TrustedProxies): string {
  if (forwardedFor === '' || !proxies.isTrusted(peer)) return peer;
  const hops = forwardedFor.split(',');
  let client = peer;
  for (let i = hops.length - 1; i >= 0; i--) {
    const hop = addressOf(hops[i]!.trim());
    if (hop === undefined) return client;
    client = hop;
    if (!proxies.isTrusted(hop)) return client;
  }
  return client;
}

/**
 * The client's address as a proxy describes it: the right-most in `X-Forwarded-For` that isn't one of `ours`. Empty if there is
 * none, or if an address further right can't be read.
 */
export function describedAddress(forwardedFor: string, ours: TrustedProxies): string {
  const hops = forwardedFor.split(',');
  for (let i = hops.length - 1; i >= 0; i--) {
    const hop = addressOf(hops[i]!.trim());
    if (hop === undefined) return '';
    if (!ours.isTrusted(hop)) return hop;
  }
  return '';
}

/** Spells an IPv6 address, or the /64 block by which it is counted, as logs and stores do; returns any other text unchanged. */
export function recordedAddress(text: string): string {
  const [address = '', bits, ...more] = text.split('/');
  if (more.length > 0 || !isIPv6(address)) return text;
  if (bits === undefined) return spelledOnce(address);
  return bits === '64' ? addressKey(address) : text;
}

/** The address of a hop, without the port that some proxies write; undefined if it isn't an address. */
function addressOf(hop: string): string | undefined {
  if (isIPv4(hop)) return hop;
  if (isIPv6(hop)) return spelledOnce(hop);
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(hop)?.[1];
  if (bracketed !== undefined) return isIPv6(bracketed) ? spelledOnce(bracketed) : undefined;
  const withPort = /^([\d.]+):\d{1,5}$/.exec(hop)?.[1];
  return withPort !== undefined && isIPv4(withPort) ? withPort : undefined;
}

/** Spells an IPv6 address as the addresses of peers are spelled. */
function spelledOnce(address: string): string {
  return canonicalAddress(new SocketAddress({ address, family: 'ipv6' }).address);
}
