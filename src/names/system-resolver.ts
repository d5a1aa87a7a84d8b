import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { domainToASCII } from 'node:url';
import { askServer, configuredServers } from './channels.ts';
import { type QueryFamily, queryInTurn } from './dns-query.ts';
import { createEtcFile } from './etc-file.ts';
import { parseHosts } from './hosts.ts';
import { NameError } from './name-error.ts';
import { askInTurn } from './name-servers.ts';
import { parseNameServices, servicesFor } from './name-services.ts';
import { candidatesOf, parseResolvConf } from './resolv-conf.ts';

/** Finds the addresses of a host name, of which there is at least one. Rejects with a `NameError`. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Where a system's settings are, and what asks the C library; for tests. */
export interface SystemResolverOptions {
  /** The folder of `hosts`, `resolv.conf` and `nsswitch.conf`; default `/etc`. */
  readonly folder?: string;
  /** A full machine name; default: this one's. */
  readonly machine?: string;
  /** Default: getaddrinfo(3). */
  readonly system?: Resolve;
  /** Name servers to ask in place of those in `resolv.conf`. */
  readonly servers?: readonly string[];
  /** In ms, default `performance.now`. */
  readonly now?: () => number;
}

/** What ends in a number is an IPv4 address in one of the C library's notations, such as `127.1`. */
const isNumber = /(?:^|\.)(?:\d+|0x[\da-f]*)$/;
const loopback: readonly string[] = ['127.0.0.1', '::1'];

/**
 * Resolves names as the C library does by the same files, but asks name servers on the event loop, by c-ares: any number of
 * names can wait there, while getaddrinfo(3) holds one of libuv's four threads for each. What only the C library can
 * ask is left to it: other sources in nsswitch.conf, and systems other than Linux.
 */
export function createSystemResolver(options: SystemResolverOptions = {}): Resolve {
  const {
    folder = '/etc',
    machine = hostname(),
    system = getaddrinfo,
    now = () => performance.now(),
  } = options;
  const hosts = createEtcFile(`${folder}/hosts`, parseHosts, now);
  const services = createEtcFile(`${folder}/nsswitch.conf`, parseNameServices, now);
  const settings = createEtcFile(
    `${folder}/resolv.conf`,
    (text) => ({ ...parseResolvConf(text, machine), servers: options.servers ?? configuredServers() }),
    now,
  );
  let turn = 0;

  function queryDns(host: string): Promise<readonly string[]> {
    const { servers, rotates, isWithoutIPv6, ...names } = settings();
    const at = rotates ? turn++ % servers.length : 0;
    const inOrder = [...servers.slice(at), ...servers.slice(0, at)];
    const query: QueryFamily = async (name, family) =>
      isWithoutIPv6 && family === 6
        ? []
        : askInTurn(inOrder, (server, timeoutMs) => askServer(name, family, server, timeoutMs));
    return queryInTurn(host, candidatesOf(host, names), query);
  }

  return async (given) => {
    if (isIP(given) !== 0) return [given];
    // Internationalised, as URLs have them already.
    const host = /[^\0-\x7f]/.test(given) ? domainToASCII(given) : given.toLowerCase();
    const plain = host.endsWith('.') ? host.slice(0, -1) : host;
    if (plain === '') throw new NameError('ENOTFOUND', given);
    const isOurs = process.platform === 'linux' && !isNumber.test(plain);
    const sources = isOurs
      ? servicesFor(plain, services(), { name: machine, servers: settings().servers })
      : ['system'];
    if (sources.includes('system')) return system(host);
    let failure = new NameError('ENOTFOUND', given);
    for (const source of sources) {
      const listed = source === 'files' ? hosts().get(host) : undefined;
      if (listed !== undefined) return listed;
      // RFC 6761 §6.3 and §6.4: never a question to a name server.
      if (/(?:^|\.)localhost$/.test(plain)) return loopback;
      if (/(?:^|\.)invalid$/.test(plain)) break;
      if (source === 'dns')
        try {
          return await queryDns(host);
        } catch (error) {
          failure = error as NameError;
        }
    }
    throw failure;
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
