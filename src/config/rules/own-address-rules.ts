import ipaddr from 'ipaddr.js';
import type { Path } from '../report/problems.ts';
import type { JudgedConfig, Rule } from './rule.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

interface Listener {
  readonly key: string;
  readonly host: string;
  readonly port: number;
}

/** Rejects upstreams that are Postern itself: requests would loop. Ports that the system chooses aren't known here. */
export const upstreamsAreOthers: Rule = (config, { report }) => {
  const listeners = listenersOf(config);
  for (const [name, upstream] of Object.entries(config.upstreams ?? {})) {
    const address = upstream?.url;
    if (address === undefined || address.kind !== 'server') continue;
    const own = listeners.find(({ host, port }) => port === address.port && leadsTo(address.host, host));
    const path: Path = ['upstreams', name, 'url'];
    if (own !== undefined) report(path, `is Postern's own address (${own.key}): requests would come back`);
  }
};

function listenersOf({ listen, management, forward_auth = [] }: JudgedConfig): readonly Listener[] {
  const written = [
    { key: 'listen', ...listen },
    { key: 'management', ...management },
    ...forward_auth.map((listener, index) => ({ key: `forward_auth[${index}]`, ...listener })),
  ];
  return written.filter((listener): listener is typeof listener & Listener => {
    return listener.host !== undefined && Boolean(listener.port);
  });
}

/** True if a connection to `host` certainly reaches a listener bound to `bound`; both are names or addresses. */
function leadsTo(host: string, bound: string): boolean {
  if (host.toLowerCase() === bound.toLowerCase()) return true;
  const targets = addressesOf(host);
  return addressesOf(bound).some((listening) => targets.some((target) => reaches(target, listening)));
}

/** The addresses of a name or address; none if only a name server knows them. */
function addressesOf(host: string): readonly Address[] {
  const name = host.toLowerCase().replace(/\.$/, '');
  // RFC 6761 §6.3.
  if (name === 'localhost' || name.endsWith('.localhost'))
    return [ipaddr.parse('127.0.0.1'), ipaddr.parse('::1')];
  return ipaddr.isValid(host) ? [ipaddr.process(host)] : [];
}

/** True if a connection to `target` reaches the listener; the unspecified addresses (`0.0.0.0`, `::`) stand for this machine. */
function reaches(target: Address, listening: Address): boolean {
  if (isUnspecified(listening))
    return isLoopback(target) && (target.kind() === listening.kind() || listening.kind() === 'ipv6');
  if (isUnspecified(target)) return isLoopback(listening) && target.kind() === listening.kind();
  return target.toString() === listening.toString();
}

function isUnspecified(address: Address): boolean {
  return address.range() === 'unspecified';
}

function isLoopback(address: Address): boolean {
  return address.range() === 'loopback' || isUnspecified(address);
}
