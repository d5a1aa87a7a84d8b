import { stringify } from 'yaml';
import { authorityOf, originOf, type ProxyPlan } from './plan.ts';

/** Relative paths depend on where Traefik is started. */
const dynamicFile = '/etc/traefik/postern.yml';

const none = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '']));

/** Traefik's static configuration, and that of its file provider. */
export function traefikConfiguration(plan: ProxyPlan): Readonly<Record<string, string>> {
  const { listen, decisions, gateway, service, ownAreas, copied, describing, deleted, reserved } = plan;
  const dynamic = {
    http: {
      routers: {
        own: {
          entryPoints: ['web'],
          rule: ownAreas.map((area) => `Path(\`${area}\`) || PathPrefix(\`${area}/\`)`).join(' || '),
          service: 'postern',
        },
        service: {
          entryPoints: ['web'],
          rule: 'PathPrefix(`/`)',
          priority: 1,
          middlewares: ['clean', 'plain', 'decide', 'hide'],
          service: 'service',
        },
        // WebSockets alone: by another upgrade (h2c) requests would pass unasked.
        webSockets: {
          entryPoints: ['web'],
          rule: 'HeaderRegexp(`Upgrade`, `(?i)^\\s*websocket\\s*$`)',
          priority: 2,
          middlewares: ['clean', 'webSocket', 'decide', 'hide'],
          service: 'service',
        },
      },
      middlewares: {
        // An empty value removes.
        clean: { headers: { customRequestHeaders: none([...deleted, ...reserved, ...describing]) } },
        plain: { headers: { customRequestHeaders: none(['Upgrade']) } },
        webSocket: { headers: { customRequestHeaders: { Upgrade: 'websocket' } } },
        decide: {
          forwardAuth: {
            address: `${originOf(decisions)}/`,
            trustForwardHeader: false,
            authResponseHeaders: copied,
          },
        },
        hide: { headers: { customRequestHeaders: none(['Authorization', 'X-API-Key']) } },
      },
      services: {
        postern: { loadBalancer: { servers: [{ url: originOf(gateway) }] } },
        service: { loadBalancer: { servers: [{ url: originOf(service) }] } },
      },
    },
  };
  const fixed = {
    entryPoints: { web: { address: authorityOf(listen) } },
    providers: { file: { filename: dynamicFile } },
  };
  // Traefik reads it from there by itself.
  return { 'traefik.yml': stringify(fixed), 'postern.yml': stringify(dynamic, { lineWidth: 0 }) };
}
