import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { basename, join } from 'node:path';
import type { DecisionMode } from '../../config/sections/forward-auth.ts';
import type { Config } from '../../config/sections/schema.ts';
import { identityPrefix } from '../../rules/known-headers.ts';
import { isAnyAddress, type ServerAddress } from './addresses.ts';
import { type PlanOptions, type ProxyPlan, planProxy } from './plan.ts';
import { type HostPlan, ownPattern } from './plan-hosts.ts';
import { fillTemplate, type Holes } from './template.ts';
import { traefikHost, traefikPaths } from './traefik-hosts.ts';

/** Contents of the files of a proxy's configuration, by file name. */
export type ProxyFiles = Readonly<Record<string, string>>;

interface Printer {
  /** Mode of the listener that the proxy asks. */
  readonly mode: DecisionMode;
  /** Paths in `forward-auth/templates/`. */
  readonly templates: readonly string[];
  /** Paths of the templates that tell hosts apart; a text: the reason why there are none. */
  readonly templatesOfHosts: readonly string[] | string;
  /** The reason why none can be printed for a listener with `browser`. */
  readonly noBrowsers?: string;
  /** Values for holes besides the members of the plan. Throws a RangeError for a plan that the proxy doesn't support. */
  readonly holes: (plan: ProxyPlan) => Holes;
}

const printers: Readonly<Record<string, Printer>> = {
  nginx: {
    mode: 'nginx',
    templates: ['nginx/postern.conf'],
    templatesOfHosts: ['nginx/hosts/postern.conf'],
    holes: (plan) => {
      requireNames('nginx', plan);
      const { deleted, reserved, describing } = plan;
      const hidden = [...deleted, ...reserved, ...describing].filter((name) => name !== 'x-real-ip');
      return {
        hidden,
        ownPattern: ownPattern(plan.ownAreas),
        hosts: plan.hosts?.map((host) => ({ ...host, serverName: nginxName(host) })) ?? [],
      };
    },
  },
  'ingress-nginx': {
    mode: 'ingress_nginx',
    templates: ['ingress-nginx/ingress.yaml'],
    templatesOfHosts:
      "can't tell hosts apart: it finds the service by an absolute target, and describes what the client wrote into Host",
    // The controller sets the last one itself when it asks, but leaves a client's header for the service.
    holes: ({ copied, describing, reserved }) => {
      const own = ['Authorization', 'X-API-Key', ...describing, 'X-Auth-Request-Redirect'];
      return { answered: [...new Set([...copied, ...own, ...reserved])].join(',') };
    },
  },
  traefik: {
    mode: 'traefik',
    templates: ['traefik/traefik.yml', 'traefik/postern.yml'],
    templatesOfHosts: ['traefik/traefik.yml', 'traefik/hosts/postern.yml'],
    holes: ({ ownAreas, hosts, deleted, reserved, describing }) => ({
      ownRule: traefikPaths(ownAreas),
      hosts: hosts?.map(traefikHost) ?? [],
      hidden: [...deleted, ...reserved, ...describing],
    }),
  },
  caddy: {
    mode: 'caddy',
    templates: ['caddy/Caddyfile'],
    templatesOfHosts: ['caddy/hosts/Caddyfile'],
    holes: ({ listen, ownAreas, hosts, copied, deleted, describing, identity, reserved, passed }) => ({
      passesNone: passed.length === 0,
      boundHosts: isAnyAddress(listen.host) ? [] : [listen.host],
      ownPaths: caddyPaths(ownAreas),
      hosts: hosts?.map((host) => ({ ...host, ownPaths: caddyPaths(host.ownAreas) })) ?? [],
      copiedNames: copied.join(' '),
      // Caddy removes all that begins with X-Auth-, or, where some of it passes, what it must not send; Postern refuses the rest.
      hidden:
        passed.length === 0
          ? [...deleted, ...describing, ...identity.filter((name) => !name.startsWith('X-Auth-'))]
          : [...deleted, ...describing, ...identity, ...reserved],
    }),
  },
  haproxy: {
    mode: 'haproxy',
    templates: ['haproxy/haproxy.cfg', 'haproxy/postern.lua'],
    templatesOfHosts: ['haproxy/hosts/haproxy.cfg', 'haproxy/postern.lua'],
    holes: (plan) => {
      requireNames('HAProxy', plan);
      const { listen, copied, passed, hosts, pageAreas } = plan;
      return {
        namesHosts: hosts !== null,
        hasConsole: hosts?.some(({ isForPagesAlone }) => isForPagesAlone) ?? false,
        pagesPattern: ownPattern(pageAreas),
        ownPattern: ownPattern(plan.ownAreas),
        // A file in HAProxy's own directory: any process could take over an abstract socket while HAProxy stops, and
        // connect to it while HAProxy runs.
        questions: `unix@/run/haproxy/postern-${listen.host.replaceAll(':', '_')}-${listen.port}.sock`,
        copiedNames: copied.map((name) => `"${name.toLowerCase()}"`).join(', '),
        passesNone: passed.length === 0,
        passesSome: passed.length > 0,
        passedPattern: passed.map((name) => name.slice(identityPrefix.length)).join('|'),
        passedNames: passed.map((name) => `["${name}"] = true`).join(', '),
      };
    },
  },
  envoy: {
    mode: 'envoy',
    templates: ['envoy/envoy.yaml'],
    templatesOfHosts: ['envoy/hosts/envoy.yaml'],
    holes: (plan) => envoyHoles(plan, 'http'),
  },
  'envoy-grpc': {
    mode: 'envoy_grpc',
    templates: ['envoy/envoy.yaml'],
    templatesOfHosts: ['envoy/hosts/envoy.yaml'],
    holes: (plan) => envoyHoles(plan, 'grpc'),
  },
  'gateway-api': {
    mode: 'envoy',
    templates: ['gateway-api/httproute.yaml'],
    templatesOfHosts: "can't tell hosts apart: one service would get the requests of all of them",
    noBrowsers:
      "can't be printed for a listener with browser, as implementations differ in what browsers get of a refusal: take envoy",
    holes: () => ({}),
  },
};

/** Names of the proxies whose configuration can be printed. */
export const printedProxies: readonly string[] = Object.keys(printers);

/** Returns the files for a proxy that asks the first listener of its mode. Throws a RangeError that says what is wrong. */
export function printProxyConfiguration(config: Config, proxy: string, options: PlanOptions): ProxyFiles {
  const { mode, holes, ...printer } = printers[proxy]!;
  const listener = config.forward_auth.find((each) => each.mode === mode);
  if (listener === undefined) throw new RangeError(`forward_auth has no listener with mode ${mode}`);
  const plan = planProxy(config, listener, options);
  const templates = plan.hosts === null ? printer.templates : printer.templatesOfHosts;
  if (listener.browser && printer.noBrowsers !== undefined)
    throw new RangeError(`${proxy} ${printer.noBrowsers}`);
  if (typeof templates === 'string') throw new RangeError(`${proxy} ${templates}`);
  const filled = { ...plan, ...holes(plan) };
  const folder = join(import.meta.dirname, '../templates');
  return Object.fromEntries(
    templates.map((path) => [basename(path), fillTemplate(readFileSync(join(folder, path), 'utf8'), filled)]),
  );
}

/** Length of names that fit into nginx's hash of names as it is by default: with a longer one nginx doesn't start. */
const longestServerName = 46;

/** A host's `server_name`: a regular expression for wildcards, because nginx's * stands for several labels, too. */
function nginxName({ name, pattern, isExact }: HostPlan): string {
  return isExact && name.length <= longestServerName ? name : `"~${pattern}"`;
}

/** The paths of areas, with all below them, as Caddy matches them. */
function caddyPaths(areas: readonly string[]): string {
  return areas.flatMap((area) => [area, `${area}/*`]).join(' ');
}

function envoyHoles({ decisions, gateway, service, hosts }: ProxyPlan, protocol: 'http' | 'grpc'): Holes {
  const cluster = (name: string, address: ServerAddress) => {
    const isName = isIP(address.host) === 0;
    return { ...address, name, isName, nameKind: isName ? 'DNS' : 'IP_ADDRESS', http2: false };
  };
  const services =
    hosts === null
      ? [cluster('service', service)]
      : hosts
          .filter(({ hasService }) => hasService)
          .map((host) => cluster(`service_${host.id}`, host.service));
  return {
    http: protocol === 'http',
    grpc: protocol === 'grpc',
    clusters: [
      { ...cluster('decisions', decisions), http2: protocol === 'grpc' },
      cluster('postern', gateway),
      ...services,
    ],
    hosts:
      hosts?.map((host) => ({
        ...host,
        told: (host.isWildcard ? '%REQ(:AUTHORITY)%' : host.name) + host.port,
        // RE2 programs in Envoy are short: the domain has matched the suffix, and the number of labels is left.
        labels: `[^.]+${'\\.[^.]+'.repeat(host.suffix.split('.').length - 1)}`,
      })) ?? [],
  };
}

/** Throws a RangeError if an IP address is reached over TLS, because the proxy compares certificates only with names. */
function requireNames(proxy: string, { decisions, gateway, service, hosts }: ProxyPlan): void {
  const isUnproved = ({ tls, host }: ServerAddress) => tls && isIP(host) !== 0;
  const why = `${proxy} compares names with certificates, no addresses`;
  if (isUnproved(decisions) || isUnproved(gateway)) throw new RangeError(`${why}: give --host a name`);
  const services = hosts === null ? [service] : hosts.map((host) => host.service);
  if (services.some(isUnproved)) throw new RangeError(`${why}: give --service a name`);
}
