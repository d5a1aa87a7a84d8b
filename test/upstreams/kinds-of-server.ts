import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apacheConfig, cgiScript } from './apache-config.ts';
import { fpmConfig, nginxConfig, nginxFpmConfig } from './nginx-config.ts';
import {
  buildGoServer,
  findPhpFpm,
  missingGo,
  missingProgram,
  missingPython,
  programs,
  python,
} from './program-paths.ts';
import { handlerPaths, type ServerKind, type ServerPlace, type ServerProcess } from './real-server.ts';

function write(place: ServerPlace, name: string, text: string, mode = 0o644): string {
  const file = join(place.folder, name);
  writeFileSync(file, text, { mode });
  return file;
}

function nginx(place: ServerPlace, config: string): ServerProcess {
  return { command: ['nginx', '-e', 'stderr', '-c', write(place, 'nginx.conf', config)] };
}

const pythonKind = (name: string, args: (place: ServerPlace) => string[], env = {}): ServerKind => ({
  name,
  missing: missingPython,
  processes: (place) => [
    {
      command: [python, ...args(place)],
      env: { PYTHONPATH: programs, PYTHONDONTWRITEBYTECODE: '1', ...env },
    },
  ],
});

const gunicorn =
  (app: string, ...more: string[]) =>
  (place: ServerPlace) => [
    ...['-m', 'gunicorn', '--bind', `127.0.0.1:${place.port}`, '--workers', '1', '--threads', '8'],
    ...['--graceful-timeout', '1', '--no-control-socket', ...more, app],
  ];

const uvicorn = (http: string) => (place: ServerPlace) => [
  ...['-m', 'uvicorn', '--host', '127.0.0.1', '--port', `${place.port}`, '--http', http],
  ...['--no-access-log', '--timeout-graceful-shutdown', '1', 'asgi_app:app'],
];

const daphne = (place: ServerPlace) => [
  ...['-m', 'daphne', '-b', '127.0.0.1', '-p', `${place.port}`, 'django_app:application'],
];

const node = (name: string, file: string): ServerKind => ({
  name,
  missing: () => undefined,
  processes: () => [{ command: [process.execPath, join(programs, file)] }],
});

const nginxKind = (name: string, withOwnLimits: boolean): ServerKind => ({
  name,
  missing: () => missingProgram('nginx', '-v'),
  processes: (place) => [nginx(place, nginxConfig(place, withOwnLimits))],
});

function apacheKind(
  name: string,
  options: { readonly cgi?: true; readonly withOwnLimits?: true },
): ServerKind {
  const kind: ServerKind = {
    name,
    missing: () =>
      missingProgram('apache2', '-v') ?? (options.cgi ? missingProgram('php-cgi', '-v') : undefined),
    processes: (place) => {
      const php = write(place, 'cgi', cgiScript(), 0o755);
      write(place, 'served', 'ok\n');
      const config = apacheConfig(place, { php, handlerPaths, ...options });
      return [{ command: ['apache2', '-f', write(place, 'httpd.conf', config), '-DFOREGROUND'] }];
    },
  };
  return options.cgi ? { ...kind, isSlow: true } : kind;
}

const phpFpm = (name: string, isLax: boolean): ServerKind => ({
  name,
  missing: () =>
    missingProgram('nginx', '-v') ?? (findPhpFpm() === undefined ? 'php-fpm is not installed' : undefined),
  processes: (place) => [
    {
      command: [
        findPhpFpm()!,
        ...['--nodaemonize', '--fpm-config', write(place, 'fpm.conf', fpmConfig(place))],
        ...(process.getuid?.() === 0 ? ['--allow-to-run-as-root'] : []),
      ],
    },
    nginx(place, nginxFpmConfig(place, handlerPaths, isLax)),
  ],
});

/** The servers, each with its defaults unless its name says otherwise. */
export const kindsOfServer = {
  'node:http': node('node:http', 'node-http.ts'),
  // It leaves escapes of reserved characters as they are: %3A is no colon.
  fastify: { ...node('fastify', 'fastify.ts'), unreached: '/api/open/x:y' },
  'net/http': {
    name: 'net/http',
    missing: missingGo,
    processes: () => [{ command: [buildGoServer()] }],
  },
  nginx: nginxKind('nginx', false),
  'nginx, its own limits': nginxKind('nginx, its own limits', true),
  'php-fpm': phpFpm('php-fpm', false),
  'php-fpm, any header': phpFpm('php-fpm, any header', true),
  apache: apacheKind('apache', {}),
  'apache, its own limits': apacheKind('apache, its own limits', { withOwnLimits: true }),
  'php-cgi': apacheKind('php-cgi', { cgi: true }),
  gunicorn: pythonKind('gunicorn', gunicorn('wsgi_app:application')),
  'gunicorn, any header': pythonKind(
    'gunicorn, any header',
    gunicorn(
      'wsgi_app:application',
      ...['--header-map', 'dangerous', '--forwarder-headers', 'SCRIPT_NAME,PATH_INFO,REMOTE_USER'],
    ),
  ),
  'gunicorn, Django': pythonKind('gunicorn, Django', gunicorn('django_app:application'), {
    UPSTREAM_INTERFACE: 'wsgi',
  }),
  'uvicorn, httptools': pythonKind('uvicorn, httptools', uvicorn('httptools')),
  'uvicorn, h11': pythonKind('uvicorn, h11', uvicorn('h11')),
  'daphne, Django': pythonKind('daphne, Django', daphne),
} satisfies Record<string, ServerKind>;

/** The name of a server under test. */
export type ServerName = keyof typeof kindsOfServer;
