import { isIP } from 'node:net';

/** The addresses of each name in lower case, as hosts(5) lists them. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

/** Parses a hosts file; lines that are none are skipped, as every reader of it does. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.split('#', 1)[0]!.trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const addresses = hosts.get(name.toLowerCase()) ?? [];
      if (!addresses.includes(address)) hosts.set(name.toLowerCase(), [...addresses, address]);
    }
  }
  return hosts;
}
