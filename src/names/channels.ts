import { Resolver } from 'node:dns/promises';
import type { Asked } from './name-servers.ts';

/** As `dns.setServers` takes it; null: all that c-ares finds in resolv.conf itself. */
export type NameServer = string | null;

/** The name servers of resolv.conf, in order. */
export function configuredServers(): readonly NameServer[] {
  const found = new Resolver().getServers();
  // The network device of such an address is lost on the way through Node.
  const isLost = found.some((address) => /^\[?fe[89ab]/i.test(address));
  return found.length === 0 || isLost ? [null] : found;
}

/**
 * Asks one server for the addresses of a full name in one family. Each question has a c-ares channel of its own: on a shared
 * one a malformed response fails all that is asked, and quick responses to some names shorten the time for all others.
 */
export function askServer(name: string, family: 4 | 6, server: NameServer, timeout: number): Asked {
  const channel = new Resolver({ timeout, tries: 1 });
  if (server !== null) channel.setServers([server]);
  return {
    addresses: family === 4 ? channel.resolve4(name) : channel.resolve6(name),
    cancel: () => channel.cancel(),
  };
}
