import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { basename, join } from 'node:path';
import type { DecisionMode } from '../../config/sections/forward-auth.ts';
import type { Config } from '../../config/sections/schema.ts';
import { identityPrefix } from '../../rules/known-headers.ts';
import { isAnyAddress, type PlanOptions, type ProxyPlan, planProxy, type ServerAddress } from './plan.ts';
import { fillTemplate, type Holes } from './template.ts';

/** Contents of the files of a proxy's configuration, by file name. */
export type ProxyFiles = Readonly<Record<string, string>>;

interface Printer {
  /** Mode of the listener that the proxy asks. */
  readonly mode: DecisionMode;
  /** Paths in `forward-auth/templates/`. */
  readonly templates: readonly string[];
  /** Values for holes besides the members of the plan. Throws a RangeError for a plan that the proxy doesn't support. */
  readonly holes: (plan: ProxyPlan) => Holes;
}

const printers: Readonly<Record<string, Printer>> = {
  nginx: {
    mode: 'nginx',
    templates: ['nginx/postern.conf'],
    holes: (plan) => {
      requireNames('nginx', plan);
      const { deleted, reserved, describing } = plan;
      const hidden = [...deleted, ...reserved, ...describing].filter((name) => name !== 'x-real-ip');
      return { hidden, ownPattern: ownPattern(plan) };
    },
  },
  'ingress-nginx': {
    mode: 'ingress_nginx',
    templates: ['ingress-nginx/ingress.yaml'],
    // The controller sets the last one itself when it asks, but leaves a client's header for the service.
    holes: ({ copied, describing, reserved }) => {
      const own = ['Authorization', 'X-API-Key', ...describing, 'X-Auth-Request-Redirect'];
      return { answered: [...new Set([...copied, ...own, ...reserved])].join(',') };
    },
  },
  traefik: {
    mode: 'traefik',
    templates: ['traefik/traefik.yml', 'traefik/postern.yml'],
    holes: ({ ownAreas, deleted, reserved, describing }) => ({
      ownRule: ownAreas.map((area) => `Path(\`${area}\`) || PathPrefix(\`${area}/\`)`).join(' || '),
      hidden: [...deleted, ...reserved, ...describing],
    }),
  },
  caddy: {
    mode: 'caddy',
    templates: ['caddy/Caddyfile'],
    holes: ({ listen, ownAreas, copied, deleted, describing, identity, reserved, passed }) => ({
      passesNone: passed.length === 0,
      boundHosts: isAnyAddress(listen.host) ? [] : [listen.host],
      ownPaths: ownAreas.flatMap((area) => [area, `${area}/*`]).join(' '),
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
    holes: (plan) => {
      requireNames('HAProxy', plan);
      const { listen, copied, passed } = plan;
      return {
        ownPattern: ownPattern(plan),
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
  envoy: { mode: 'envoy', templates: ['envoy/envoy.yaml'], holes: (plan) => envoyHoles(plan, 'http') },
  'envoy-grpc': {
    mode: 'envoy_grpc',
    templates: ['envoy/envoy.yaml'],
    holes: (plan) => envoyHoles(plan, 'grpc'),
  },
  'gateway-api': { mode: 'envoy', templates: ['gateway-api/httproute.yaml'], holes: () => ({}) },
};

/** Names of the proxies whose configuration can be printed. */
export const printedProxies: readonly string[] = Object.keys(printers);

/** Returns the files for a proxy that asks the first listener of its mode. Throws a RangeError that says what is wrong. */
export function printProxyConfiguration(config: Config, proxy: string, options: PlanOptions): ProxyFiles {
  const { mode, templates, holes } = printers[proxy]!;
  const listener = config.forward_auth.find((each) => each.mode === mode);
  if (listener === undefined) throw new RangeError(`forward_auth has no listener with mode ${mode}`);
  const plan = planProxy(config, listener, options);
  const filled = { ...plan, ...holes(plan) };
  const folder = join(import.meta.dirname, '../templates');
  return Object.fromEntries(
    templates.map((path) => [basename(path), fillTemplate(readFileSync(join(folder, path), 'utf8'), filled)]),
  );
}

function envoyHoles({ decisions, gateway, service }: ProxyPlan, protocol: 'http' | 'grpc'): Holes {
  const cluster = (name: string, address: ServerAddress) => {
    const isName = isIP(address.host) === 0;
    return { ...address, name, isName, nameKind: isName ? 'DNS' : 'IP_ADDRESS', http2: false };
  };
  return {
    http: protocol === 'http',
    grpc: protocol === 'grpc',
    clusters: [
      { ...cluster('decisions', decisions), http2: protocol === 'grpc' },
      cluster('postern', gateway),
      cluster('service', service),
    ],
  };
}

/** Throws a RangeError if an IP address is reached over TLS, because the proxy compares certificates only with names. */
function requireNames(proxy: string, { decisions, gateway, service }: ProxyPlan): void {
  const isUnproved = ({ tls, host }: ServerAddress) => tls && isIP(host) !== 0;
  const why = `${proxy} compares names with certificates, no addresses`;
  if (isUnproved(decisions) || isUnproved(gateway)) throw new RangeError(`${why}: give --host a name`);
  if (isUnproved(service)) throw new RangeError(`${why}: give --service a name`);
}

/** A regular expression for Postern's own paths, in the syntax that nginx and HAProxy share. */
function ownPattern({ ownAreas }: ProxyPlan): string {
  return `^(?:${ownAreas.map((area) => area.replaceAll('.', '\\.')).join('|')})(?:/.*)?$`;
}
