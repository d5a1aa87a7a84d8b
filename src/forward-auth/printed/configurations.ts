import type { DecisionMode } from '../../config/sections/forward-auth.ts';
import type { Config } from '../../config/sections/schema.ts';
import { caddyConfiguration } from './caddy.ts';
import { envoyConfiguration } from './envoy.ts';
import { haproxyConfiguration } from './haproxy.ts';
import { gatewayApiConfiguration, ingressNginxConfiguration } from './kubernetes.ts';
import { nginxConfiguration } from './nginx.ts';
import { type PlanOptions, type ProxyPlan, planProxy } from './plan.ts';
import { traefikConfiguration } from './traefik.ts';

/** The content of each file of a proxy's configuration, by its name. */
export type ProxyFiles = Readonly<Record<string, string>>;

/** What can be printed: the mode of the listener that is asked, and the files. */
const printers: Readonly<Record<string, { mode: DecisionMode; print: (plan: ProxyPlan) => ProxyFiles }>> = {
  nginx: { mode: 'nginx', print: (plan) => ({ 'postern.conf': nginxConfiguration(plan) }) },
  'ingress-nginx': {
    mode: 'ingress_nginx',
    print: (plan) => ({ 'ingress.yaml': ingressNginxConfiguration(plan) }),
  },
  traefik: { mode: 'traefik', print: traefikConfiguration },
  caddy: { mode: 'caddy', print: (plan) => ({ Caddyfile: caddyConfiguration(plan) }) },
  haproxy: { mode: 'haproxy', print: haproxyConfiguration },
  envoy: { mode: 'envoy', print: (plan) => ({ 'envoy.yaml': envoyConfiguration(plan, 'http') }) },
  'envoy-grpc': { mode: 'envoy_grpc', print: (plan) => ({ 'envoy.yaml': envoyConfiguration(plan, 'grpc') }) },
  'gateway-api': { mode: 'envoy', print: (plan) => ({ 'httproute.yaml': gatewayApiConfiguration(plan) }) },
};

/** The names of the proxies whose configuration can be printed. */
export const printedProxies: readonly string[] = Object.keys(printers);

/**
 * The configuration of a proxy, one of {@link printedProxies}, that asks on the first listener of its mode. Throws a
 * RangeError, whose message says what is missing or wrong.
 */
export function printProxyConfiguration(config: Config, proxy: string, options: PlanOptions): ProxyFiles {
  const { mode, print } = printers[proxy]!;
  const listener = config.forward_auth.find((each) => each.mode === mode);
  if (listener === undefined) throw new RangeError(`forward_auth has no listener with mode ${mode}`);
  return print(planProxy(config, listener, options));
}
