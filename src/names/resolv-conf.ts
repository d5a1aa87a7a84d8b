/** What resolv.conf(5) says of names; its name servers are c-ares' to read. */
export interface ResolvConf {
  /** The domains to look in, in order; empty: the root. */
  readonly search: readonly string[];
  /** A name with at least so many dots is looked up as it is first. */
  readonly ndots: number;
  /** Whether each lookup begins with another name server. */
  readonly rotates: boolean;
  /** Whether nothing is asked for IPv6 addresses. */
  readonly isWithoutIPv6: boolean;
}

/** The most that resolv.conf(5) allows. */
const maxNdots = 15;

/** Parses resolv.conf; without a list the domain is that of this machine's name. */
export function parseResolvConf(text: string, machine: string): ResolvConf {
  const dot = machine.indexOf('.');
  let search = dot < 0 ? [] : [machine.slice(dot + 1)];
  let ndots = 1;
  const flags = new Set<string>();
  for (const line of text.split('\n')) {
    const [key, ...values] = line.trim().split(/\s+/);
    // The last one counts.
    if (key === 'search') search = values;
    else if (key === 'domain') search = values.slice(0, 1);
    else if (key === 'options')
      for (const option of values) {
        flags.add(option);
        const [, count] = /^ndots:(\d+)$/.exec(option) ?? [];
        if (count !== undefined) ndots = Math.min(maxNdots, Number(count));
      }
  }
  return {
    search: search.map((domain) => domain.replace(/^\.|\.$/g, '')),
    ndots,
    rotates: flags.has('rotate'),
    isWithoutIPv6: flags.has('no-aaaa'),
  };
}

/** The full names that a name may stand for, in the order to look them up in. */
export function candidatesOf(
  host: string,
  { search, ndots }: Pick<ResolvConf, 'search' | 'ndots'>,
): readonly string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)];
  const searched = search.map((domain) => (domain === '' ? host : `${host}.${domain}`));
  const dots = host.split('.').length - 1;
  // Once, where the root is in the list.
  return [...new Set(dots >= ndots ? [host, ...searched] : [...searched, host])];
}
