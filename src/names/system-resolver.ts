import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { domainToASCII } from 'node:url';
import { queryInTurn, queryServers } from './dns-query.ts';
import {
  candidatesOf,
  listedAddresses,
  parseNameSources,
  parseResolvConf,
  readEtcFile,
} from './etc-files.ts';
import { NameError } from './name-error.ts';

/** Finds the addresses of a host name, at least one. Rejects with a `NameError`. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Replacements for parts of the system, for tests. */
export interface SystemResolverOptions {
  /** Folder of `hosts`, `resolv.conf` and `nsswitch.conf`; default `/etc`. */
  readonly folder?: string;
  /** Full name of this machine; default: the system's. */
  readonly machine?: string;
  /** Fallback for names that need the C library; default: getaddrinfo(3). */
  readonly system?: Resolve;
  /** Name servers to ask in place of those in `resolv.conf`. */
  readonly servers?: readonly string[];
}

/** Matches names that end in a number: in notations such as `127.1`, the C library reads them as IPv4 addresses. */
const isNumber = /(?:^|\.)(?:\d+|0x[\da-f]*)$/;
const loopback: readonly string[] = ['127.0.0.1', '::1'];

/**
 * Creates a resolver that follows the same files as the C library, but asks name servers on the event loop, by c-ares: any number
 * of names can wait there, while getaddrinfo(3) holds one of libuv's four threads for each. Everything but the hosts file and
 * name servers is left to getaddrinfo: other sources in nsswitch.conf, and systems other than Linux.
 */
export function createSystemResolver(options: SystemResolverOptions = {}): Resolve {
  const { folder = '/etc', machine = hostname(), system = getaddrinfo, servers } = options;
  const query = queryServers(servers);

  return async (given) => {
    if (isIP(given) !== 0) return [given];
    // Internationalised names in their ASCII form, which URLs already contain.
    const host = /[^\0-\x7f]/.test(given) ? domainToASCII(given) : given.toLowerCase();
    const plain = host.endsWith('.') ? host.slice(0, -1) : host;
    if (plain === '') throw new NameError('ENOTFOUND', given);
    const textOf = (name: string) => readEtcFile(`${folder}/${name}`, given);
    if (process.platform !== 'linux' || isNumber.test(plain)) return system(host);
    const sources = parseNameSources(textOf('nsswitch.conf'));
    if (!sources.isUsual) return system(host);
    const listed = listedAddresses(textOf('hosts'), host);
    if (listed.length > 0) return listed;
    // RFC 6761 §6.3 and §6.4: name servers are never asked for these names.
    if (/(?:^|\.)localhost$/.test(plain)) return loopback;
    if (/(?:^|\.)invalid$/.test(plain)) throw new NameError('ENOTFOUND', given);
    const settings = parseResolvConf(textOf('resolv.conf'), machine);
    try {
      return await queryInTurn(host, candidatesOf(host, settings), (name, family) =>
        settings.isWithoutIPv6 && family === 6 ? Promise.resolve([]) : query(name, family),
      );
    } catch (error) {
      if (sources.hasMore && (error as NameError).code === 'ENOTFOUND') return system(host);
      throw error;
    }
  };
}

async function getaddrinfo(host: string): Promise<readonly string[]> {
  try {
    const found = await dns.lookup(host, { all: true, order: 'verbatim' });
    return found.map(({ address }) => address);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ENOTFOUND' ? new NameError(code, host) : new NameError('EAI_AGAIN', host, code);
  }
}
