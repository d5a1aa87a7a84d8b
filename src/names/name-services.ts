/** What says which addresses a name has; `system`: what only the C library can ask. */
export type NameService = 'files' | 'dns' | 'system';

/** What glibc does without a configuration, and musl always. */
const usual = ['files', 'dns'];

/** The sources of host names that nsswitch.conf(5) lists, with its actions, such as `[NOTFOUND=return]`. */
export function parseNameServices(text: string): readonly string[] {
  for (const line of text.split('\n')) {
    const [, listed] = /^\s*hosts:([^#]*)/.exec(line) ?? [];
    if (listed !== undefined) return listed.match(/\[[^\]]*\]|[^\s[]+/g) ?? [];
  }
  return usual;
}

/** What the sources depend on. */
export interface Machine {
  readonly name: string;
  /** As `dns.getServers` lists them. */
  readonly servers: readonly (string | null)[];
}

/** systemd-resolved as a name server, which says what `resolve` does, but for names in `.local`. */
const resolved: ReadonlySet<string | null> = new Set(['127.0.0.53', '127.0.0.54']);

/**
 * What to ask for this name. The hosts file and name servers are asked here, multicast DNS has no names but those in
 * `.local`, and `myhostname` none but that of this machine: all else is left to the C library.
 */
export function servicesFor(
  host: string,
  sources: readonly string[],
  { name, servers }: Machine,
): readonly NameService[] {
  const isLocal = host.endsWith('.local');
  const isResolved = !isLocal && servers.every((server) => resolved.has(server));
  const serviceOf = (source: string): NameService | 'none' => {
    if (source === 'files' || source === 'dns') return source;
    if (source === 'resolve' && isResolved) return 'dns';
    const isNone = source === 'myhostname' ? host !== name : source.startsWith('mdns') && !isLocal;
    return isNone ? 'none' : 'system';
  };
  const services = new Set<NameService>();
  for (const [i, source] of sources.entries()) {
    const before = sources[i - 1] ?? '';
    // As if neither were there; or it says that what follows is only for when systemd-resolved is away.
    const isMet = serviceOf(before) === 'none' || before === 'resolve';
    if (source.startsWith('[') && isMet) continue;
    const service = serviceOf(source);
    if (service === 'system') return ['system'];
    if (service !== 'none') services.add(service);
  }
  return [...services];
}
