import { authorityOf, originOf, ownPattern, type Place, type ProxyPlan, requireNames } from './plan.ts';

const variableOf = (name: string) => `$postern_${name.toLowerCase().replaceAll('-', '_')}`;
const indented = (lines: readonly string[], depth: number) =>
  lines.map((line) => `${' '.repeat(depth)}${line}`).join('\n');

/** What both the service and Postern are told about the client. */
const sender = [
  'proxy_set_header Host $http_host;',
  'proxy_set_header X-Forwarded-For $remote_addr;',
  'proxy_set_header X-Forwarded-Proto $scheme;',
  'proxy_set_header X-Forwarded-Host $http_host;',
];
const connection = ['proxy_http_version 1.1;', 'proxy_set_header Connection "";'];
const upgradable = [
  'proxy_http_version 1.1;',
  'proxy_set_header Upgrade $postern_upgrade;',
  'proxy_set_header Connection $postern_connection;',
];
/** Without these nginx takes any certificate, and an `upstream` is asked for by its own name. */
const tlsLines = ({ host, tls }: Place) =>
  tls
    ? [
        'proxy_ssl_server_name on;',
        `proxy_ssl_name ${host};`,
        'proxy_ssl_verify on;',
        'proxy_ssl_verify_depth 3;',
        'proxy_ssl_trusted_certificate /etc/ssl/certs/ca-certificates.crt;',
      ]
    : [];

/** A file for `/etc/nginx/conf.d`: `ngx_http_auth_request_module` asks, and unknown spellings of names are dropped. */
export function nginxConfiguration(plan: ProxyPlan): string {
  requireNames('nginx', plan);
  const { listen, decisions, gateway, service, ownAreas, copied, describing, deleted, reserved } = plan;
  const clear = (names: readonly string[]) => names.map((name) => `proxy_set_header ${name} "";`);
  return `# /etc/nginx/conf.d/postern.conf. What nginx makes of a 5xx of Postern is a 500.
upstream postern_decisions {
  server ${authorityOf(decisions)};
  keepalive 32;
}

# WebSockets alone, and connections that are kept for everything else: by another upgrade (h2c) requests would pass unasked.
map "$http_connection|$http_upgrade" $postern_upgrade {
  default "";
  "~*^(?:.*,)?[ \\t]*upgrade[ \\t]*(?:,.*)?\\|[ \\t]*websocket[ \\t]*$" websocket;
}
map $postern_upgrade $postern_connection {
  default "";
  websocket upgrade;
}

server {
  listen ${authorityOf(listen)};
  # Names with other characters than letters, digits and - are dropped: the defaults, which must stay.
  ignore_invalid_headers on;
  underscores_in_headers off;

  # Postern's own paths.
  location ~ ${ownPattern(ownAreas)} {
${indented([...sender, ...connection, ...tlsLines(gateway)], 4)}
    proxy_pass ${originOf(gateway)};
  }

  location / {
    auth_request /_postern_decision;
${indented(
  copied.map(
    (name) =>
      `auth_request_set ${variableOf(name)} $upstream_http_${name.toLowerCase().replaceAll('-', '_')};`,
  ),
  4,
)}
    auth_request_set $postern_code $upstream_http_x_auth_code;
    add_header X-Auth-Code $postern_code always;

    # Who is calling, and cookies without Postern's own; an empty value removes what the client sent.
${indented(
  copied.map((name) => `proxy_set_header ${name} ${variableOf(name)};`),
  4,
)}
    # The service needs no credentials.
    proxy_set_header Authorization "";
    proxy_set_header X-API-Key "";
    # What services take for the mount point, the target, the method or the user.
${indented([...clear([...deleted, ...reserved, ...describing].filter((name) => name !== 'x-real-ip')), 'proxy_set_header X-Real-IP $remote_addr;', ...sender, ...upgradable, ...tlsLines(service)], 4)}
    # Unbuffered: a slow upload that is collected first would arrive with an expired proof.
    proxy_request_buffering off;
    # Without a path: the target is passed on as it was received, and as Postern judged it.
    proxy_pass ${originOf(service)};
  }

  location = /_postern_decision {
    internal;
    proxy_set_header X-Original-Method $request_method;
    proxy_set_header X-Original-URI $request_uri;
    proxy_pass_request_body off;
    proxy_set_header Content-Length "";
    # The scopes of a caller may be many.
    proxy_buffer_size 32k;
    proxy_buffers 4 32k;
${indented([...clear([...deleted, ...reserved]), ...sender, ...connection, ...tlsLines(decisions)], 4)}
    proxy_pass ${decisions.tls ? 'https' : 'http'}://postern_decisions/;
  }
}
`;
}
