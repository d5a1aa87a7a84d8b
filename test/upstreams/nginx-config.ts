import { join } from 'node:path';
import { findSharedPhp } from './apache-config.ts';
import { handlers } from './handlers.ts';
import { programs } from './program-paths.ts';
import type { ServerPlace } from './real-server.ts';
import { watchedNames } from './watched-names.ts';

const inFolder = ({ folder }: ServerPlace, names: readonly string[]) =>
  names.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n  ');

/** As large as the gateway's own limits and the bodies of the tests. */
const largeLimits = 'large_client_header_buffers 4 32k; client_max_body_size 0;';

const frame = (place: ServerPlace, http: string, server: string, withOwnLimits = false) => `
daemon off;
master_process off;
pid ${join(place.folder, 'nginx.pid')};
error_log stderr crit;
events { worker_connections 1024; }
http {
  ${inFolder(place, ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'])}
  access_log off;
  ${withOwnLimits ? '' : largeLimits}
  ${http}
  server {
    listen 127.0.0.1:${place.port};
    ${server}
  }
}
`;

const variable = (name: string) => `$http_${name.toLowerCase().replaceAll('-', '_')}`;

/** nginx that serves the handlers as locations and records with its access log; `withOwnLimits`: with default limits. */
export function nginxConfig(place: ServerPlace, withOwnLimits = false): string {
  const headers = watchedNames.map((name) => `["${name}","${variable(name)}"]`).join(',');
  const line = `{"handler":"$handler","method":"$request_method","path":"$uri","headers":[${headers}],"root":"","user":"$remote_user","address":"$remote_addr","scheme":"$scheme","body":""}`;
  const location = (path: string, exact: boolean) =>
    `location ${exact ? '=' : '^~'} "${path}" { set $handler "${path.replace(/\/$/, '')}"; return 200 "ok\\n"; }`;
  const locations = handlers.flatMap(({ path, exact = false }) => [
    location(path, true),
    location(`${path}/`, exact),
  ]);
  return frame(
    place,
    `log_format record escape=json '${line}';`,
    `set $handler "";
    access_log ${place.record} record;
    location / { return 200 "ok\\n"; }
    ${locations.join('\n    ')}`,
    withOwnLimits,
  );
}

/** nginx that hands everything to PHP-FPM, as a front controller has it; `isLax`: headers of any name too. */
export function nginxFpmConfig(place: ServerPlace, handlerPaths: string, isLax: boolean): string {
  const parameters = {
    SCRIPT_FILENAME: join(programs, 'index.php'),
    SCRIPT_NAME: '/index.php',
    REQUEST_METHOD: '$request_method',
    REQUEST_URI: '$request_uri',
    DOCUMENT_URI: '$document_uri',
    QUERY_STRING: '$query_string',
    CONTENT_TYPE: '$content_type',
    CONTENT_LENGTH: '$content_length',
    REMOTE_ADDR: '$remote_addr',
    SERVER_PROTOCOL: '$server_protocol',
    GATEWAY_INTERFACE: 'CGI/1.1',
    UPSTREAM_ROUTER: findSharedPhp() === undefined ? '' : 'symfony',
    PATH_INFO: '$document_uri',
    UPSTREAM_RECORD: place.record,
    UPSTREAM_HANDLERS: Buffer.from(handlerPaths).toString('base64'),
  };
  const lines = Object.entries(parameters).map(([name, value]) => `fastcgi_param ${name} "${value}";`);
  return frame(
    place,
    isLax ? 'underscores_in_headers on; ignore_invalid_headers off;' : '',
    `location / { fastcgi_pass unix:${join(place.folder, 'fpm.sock')}; ${lines.join(' ')} }`,
  );
}

/** PHP-FPM on a socket in its folder. */
export function fpmConfig({ folder }: ServerPlace): string {
  return `
[global]
error_log = /proc/self/fd/2
[www]
listen = ${join(folder, 'fpm.sock')}
${process.getuid?.() === 0 ? 'user = root\ngroup = root' : ''}
pm = static
pm.max_children = 4
`;
}
