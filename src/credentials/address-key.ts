import ipaddr from 'ipaddr.js';

/**
 * The key under which an address is counted: IPv4 (mapped too) as it is, IPv6 by its /64, which belongs to one
 * customer.
 */
export function addressKey(address: string): string {
  // Peers on a Unix socket have no address; they share one count.
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = (parsed as ipaddr.IPv6).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
}
