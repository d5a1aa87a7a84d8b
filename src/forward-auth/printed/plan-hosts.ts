import type { Config } from '../../config/sections/schema.ts';
import { nameOfOrigin } from '../../rules/name-of-origin.ts';
import { ownAreas } from '../../rules/own-areas.ts';
import { parseService, type ServerAddress, serviceOf } from './addresses.ts';

/** A host that people enter, as a proxy serves it. */
export interface HostPlan {
  /** Name of the host's parts in the printed configuration. */
  readonly id: string;
  /** The name in lower case, with `*` for the first label of a wildcard; names with a wildcard have only a pattern. */
  readonly name: string;
  readonly isExact: boolean;
  readonly isWildcard: boolean;
  /** Regular expression for the whole name, in lower case and without a port. */
  readonly pattern: string;
  /** The name after the first label of a wildcard, with the dot; empty for any other. */
  readonly suffix: string;
  readonly scheme: string;
  /** The port of the origin, after a colon; empty if it is the scheme's. */
  readonly port: string;
  readonly service: ServerAddress;
  /** Paths that go to the public listener unasked, with all below them. */
  readonly ownAreas: readonly string[];
  /** Regular expression for these paths. */
  readonly ownPattern: string;
  /** True if the service has the other paths, each of which is asked about; false: they are 404. */
  readonly hasService: boolean;
  readonly isForPagesAlone: boolean;
}

/** A label at the left of a wildcard's names. */
const labelPattern = '[a-z0-9_-]{1,63}';

/**
 * Plans the hosts: that of `base_url`, the console's own, and each entry of `hosts`, names before the wildcards that they match.
 * `service`: URL of the service of each.
 */
export function planHosts(config: Config, service: string | undefined): readonly HostPlan[] {
  const { base_url: baseUrl, hosts = [], web, endpoints, api_path: apiPath } = config;
  const console = web?.console?.base_url;
  const all = ownAreas((name) => endpoints[name] === 'upstream', { apiPath, webPath: web?.path });
  const plan = (origin: string, index: number, areas: readonly string[], hasService = true): HostPlan => {
    const name = nameOfOrigin(origin);
    const isWildcard = name.startsWith('*.');
    const suffix = isWildcard ? name.slice(1) : '';
    const literally = (text: string) => text.replaceAll('.', '\\.');
    const isOfHost = (host: string | undefined) => host === (index < 0 ? undefined : name);
    return {
      id: index < 0 ? (hasService ? 'base_url' : 'console') : `host_${index}`,
      name,
      isExact: !isWildcard,
      isWildcard,
      pattern: isWildcard ? `^${labelPattern}${literally(suffix)}$` : `^${literally(name)}$`,
      suffix,
      scheme: origin.startsWith('https:') ? 'https' : 'http',
      port: /:\d+$/.exec(origin)?.[0] ?? '',
      service: parseService(service ?? serviceOf(config, isOfHost)),
      ownAreas: areas,
      ownPattern: ownPattern(areas),
      hasService,
      isForPagesAlone: !hasService,
    };
  };
  const hasConsole = console !== undefined && nameOfOrigin(console) !== nameOfOrigin(baseUrl);
  return [
    plan(baseUrl, -1, all),
    ...(hasConsole ? [plan(console, -1, all, false)] : []),
    ...hosts
      .map((origin, index) => plan(origin, index, web === undefined ? [] : [web.path]))
      .sort((one, other) => Number(one.isWildcard) - Number(other.isWildcard)),
  ];
}

/** A regular expression for paths and all below them, in the syntax that nginx, HAProxy and Go share. */
export function ownPattern(areas: readonly string[]): string {
  return `^(?:${areas.map((area) => area.replaceAll('.', '\\.')).join('|')})(?:/.*)?$`;
}
