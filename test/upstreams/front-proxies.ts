import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { askingProxies } from './asking-proxies.ts';
import { missingProgram } from './program-paths.ts';
import type { ServerKind, ServerPlace } from './real-server.ts';

const missing = (name: keyof typeof askingProxies) =>
  askingProxies[name].find() === undefined ? `${name} is not installed` : undefined;

const isReady = async (port: number) => (await fetch(`http://127.0.0.1:${port}/`)).status === 200;

/** A proxy of {@link askingProxies} with its file, as its documentation has it for forwarding alone. */
function proxy(
  name: string,
  program: keyof typeof askingProxies,
  content: (place: ServerPlace) => Readonly<Record<string, string>>,
  args: (folder: string) => readonly string[] = askingProxies[program].args,
): ServerKind {
  return {
    name,
    missing: () => missing(program),
    isReady,
    processes(place) {
      for (const [file, text] of Object.entries(content(place)))
        writeFileSync(join(place.folder, file), text);
      return [{ command: [askingProxies[program].find()!, ...args(place.folder)] }];
    },
  };
}

const nginx = (name: string, passed: string) =>
  proxy(name, 'nginx', ({ folder, port }) => ({
    'nginx.conf': `daemon off;
pid ${join(folder, 'nginx.pid')};
error_log stderr error;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${join(folder, each)};`).join(' ')}
  server { listen 127.0.0.1:${port}; location / { proxy_pass ${passed}; } }
}
`,
  }));

function apache(name: string, lines: string): ServerKind {
  return {
    name,
    missing: () => missingProgram('/usr/sbin/apache2', '-v'),
    isReady,
    processes({ folder, port }) {
      const load = (each: string) => `LoadModule ${each}_module /usr/lib/apache2/modules/mod_${each}.so`;
      const config = `ServerRoot ${folder}
ServerName localhost
PidFile ${join(folder, 'httpd.pid')}
Listen 127.0.0.1:${port}
ErrorLog /dev/stderr
LogLevel crit
${['mpm_event', 'authz_core', 'proxy', 'proxy_http'].map(load).join('\n')}
${process.getuid?.() === 0 ? 'User www-data\nGroup www-data' : ''}
${lines}
`;
      writeFileSync(join(folder, 'httpd.conf'), config);
      return [{ command: ['/usr/sbin/apache2', '-X', '-f', join(folder, 'httpd.conf')] }];
    },
  };
}

const envoyConfig = (port: number, upstream: URL) => `static_resources:
  listeners:
    - address: { socket_address: { address: 127.0.0.1, port_value: ${port} } }
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: web
                route_config:
                  virtual_hosts:
                    - { name: all, domains: ["*"], routes: [{ match: { prefix: / }, route: { cluster: postern } }] }
                http_filters:
                  - name: envoy.filters.http.router
                    typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
  clusters:
    - name: postern
      load_assignment:
        cluster_name: postern
        endpoints:
          - lb_endpoints:
              - endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: ${upstream.port} } } }
`;

/** Proxies that stand in front of a gateway, each forwarding everything to that URL, otherwise with its defaults. */
export function frontProxies(url: string): readonly ServerKind[] {
  return [
    nginx('nginx', url),
    nginx('nginx, `proxy_pass` with a path', `${url}/`),
    apache('Apache', `ProxyPass / ${url}/`),
    apache('Apache, `nocanon`', `AllowEncodedSlashes NoDecode\nProxyPass / ${url}/ nocanon`),
    proxy('HAProxy', 'haproxy', ({ port }) => ({
      'haproxy.cfg': `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend web
  bind 127.0.0.1:${port}
  default_backend postern
backend postern
  server postern ${new URL(url).host}
`,
    })),
    proxy('Caddy', 'caddy', ({ port }) => ({
      Caddyfile: `{\n\tadmin off\n}\nhttp://127.0.0.1:${port} {\n\treverse_proxy ${new URL(url).host}\n}\n`,
    })),
    proxy('Traefik', 'traefik', ({ folder, port }) => ({
      'traefik.yml': `entryPoints: { web: { address: "127.0.0.1:${port}" } }
providers: { file: { filename: ${join(folder, 'routes.yml')} } }
global: { checkNewVersion: false, sendAnonymousUsage: false }
`,
      'routes.yml': `http:
  routers: { all: { rule: PathPrefix(\`/\`), service: postern } }
  services: { postern: { loadBalancer: { servers: [{ url: "${url}" }] } } }
`,
    })),
    proxy('Envoy', 'envoy', ({ port }) => ({ 'envoy.yaml': envoyConfig(port, new URL(url)) })),
  ];
}
