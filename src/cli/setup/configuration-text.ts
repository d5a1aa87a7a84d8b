import { stringify } from 'yaml';
import { isLoopbackHost } from '../../config/values/addresses.ts';
import type { ListenAddress } from './addresses.ts';

/** Values of a configuration for one service behind one gateway. */
export interface Setup {
  readonly tenant: string;
  /** Origin that clients see. */
  readonly baseUrl: string;
  readonly listen: ListenAddress;
  readonly management: ListenAddress;
  /** URL of the upstream. */
  readonly upstream: string;
  readonly title: string;
  /** Origin of the console; null: there is no console. The console shares `baseUrl` if both are the same. */
  readonly console: string | null;
  /** Folder of the stores, relative to that of the file, with a slash at the end, or empty. */
  readonly folder: string;
}

/** The scope that the route of the service requires. */
export const accessScope = 'access';

/** The text of a configuration after its first lines, which say what the file is. */
export function configurationText(setup: Setup): string {
  const { tenant, baseUrl, listen, management, upstream, title, folder } = setup;
  return `
# Name of this instance, in challenges and logs.
tenant: ${scalar(tenant)}

# The one address that browsers and programs use: sign-in works under this name alone.
base_url: ${scalar(baseUrl)}

# Where Postern listens, and where it reports health and metrics, without a sign-in.
listen: ${address(listen)}
management: ${address(management)}
${proxies(setup)}
# Users, keys and sessions; "postern backup FILE" copies what must not be lost.
stores:
  records: ${scalar(`sqlite:${folder}postern.db`)}
  sessions: ${scalar(`sqlite:${folder}sessions.db`)}

# What users and keys may be given, each with a sentence for the console.
scopes:
  ${accessScope}: Use the service

# The service.
upstreams:
  app: { url: ${scalar(upstream)} }

# Who may do what: browser leads people to the sign-in page; programs send a key. The longest prefix counts. Add
# "public: true" in place of scopes and browser for paths that everyone may see.
routes:
  - { prefix: /, upstream: app, scopes: [${accessScope}], browser: true }

# The pages for people; home is where a sign-in leads.
web:
  title: ${scalar(title)}
  home: /
${consoleLines(setup)}
# Postern keeps the users, for the console and for "postern user add".
endpoints: { users: own }
`;
}

/** A value in YAML, on one line. */
function scalar(text: string): string {
  return stringify(text, { lineWidth: 0 }).trimEnd();
}

function address({ host, port }: ListenAddress): string {
  return `{ host: ${host.includes(':') ? JSON.stringify(host) : scalar(host)}, port: ${port} }`;
}

function proxies({ baseUrl, listen }: Setup): string {
  if (!baseUrl.startsWith('https:')) return '';
  if (isLoopbackHost(listen.host))
    return `
# The proxy that has the certificate, and says who is calling.
trusted_proxies: [127.0.0.1, "::1"]
`;
  // An empty list would be the choice to believe no proxy, and "postern check" would have nothing to remind of.
  return `
# The proxy that has the certificate, and says who is calling: its address, or a block of addresses.
# trusted_proxies: [10.0.0.1]
`;
}

function consoleLines({ console, baseUrl }: Setup): string {
  if (console === null)
    return `  # For administrators, at a name of its own that leads here, too. {} is base_url itself, where pages of the
  # service could do what the signed-in administrator can.
  # console: { base_url: https://console.example.com }
`;
  if (console === baseUrl) return '  # For administrators.\n  console: {}\n';
  return `  # For administrators, at a name of its own: on base_url, pages of the service could do what they can.
  console: { base_url: ${scalar(console)} }
`;
}
