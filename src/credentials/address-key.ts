import ipaddr from 'ipaddr.js';

const groupCount = 8;
const networkGroups = 4;
const group = /^[0-9a-f]{1,4}$/;

/** The key under which an address is counted: IPv4, mapped or not, in full; IPv6 by its /64, which is usually one customer's. */
export function addressKey(address: string): string {
  const groups = plainGroups(address);
  if (groups !== undefined)
    return keyOf(groups.slice(0, networkGroups).map((text) => Number.parseInt(text, 16)));
  // Peers on a Unix socket have no address; they share one count.
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return keyOf((parsed as ipaddr.IPv6).parts.slice(0, networkGroups));
}

/**
 * Splits an IPv6 address into its groups if it is as connections report it, without a zone or dots; undefined for any other text,
 * which is left to the library. Every counted refusal needs the key, and the library takes 7 µs of CPU instead of 3 (measured
 * 2026-11-22, on two busy cores).
 */
function plainGroups(address: string): readonly string[] | undefined {
  const [before = '', after, ...more] = address.split('::');
  if (more.length > 0 || (after === undefined && !before.includes(':'))) return undefined;
  const left = before === '' ? [] : before.split(':');
  const right = after === undefined || after === '' ? [] : after.split(':');
  const missing = groupCount - left.length - right.length;
  if (after === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...left, ...Array<string>(missing).fill('0'), ...right];
  // ::ffff:0:0/96 is IPv4.
  const isMapped = groups[5] === 'ffff' && groups.slice(0, 5).every((text) => /^0+$/.test(text));
  return !isMapped && groups.every((text) => group.test(text)) ? groups : undefined;
}

function keyOf(network: readonly number[]): string {
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
}
