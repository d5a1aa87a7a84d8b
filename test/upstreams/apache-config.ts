import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Handler, handlers } from './handlers.ts';
import { programs } from './program-paths.ts';
import type { ServerPlace } from './real-server.ts';
import { watchedNames } from './watched-names.ts';

const modules = '/usr/lib/apache2/modules';
const sharedPhp = '/usr/share/php/Symfony/Component/HttpFoundation/autoload.php';

/** Symfony's request of Debian's package; undefined where it is not installed. */
export function findSharedPhp(): string | undefined {
  return existsSync(sharedPhp) ? dirname(sharedPhp) : undefined;
}

/** A CGI script: php-cgi would be refused without its redirect status when a server calls it by itself. */
export function cgiScript(): string {
  return `#!/bin/sh
export REDIRECT_STATUS=200 SCRIPT_FILENAME=${join(programs, 'index.php')}
exec php-cgi
`;
}

/**
 * Apache that serves the handlers as files by aliases and records with its access log; `cgi`: one script for the whole
 * tree instead, whose `PATH_INFO` is the path as Apache read it; `withOwnLimits`: with Apache's default limits.
 */
export function apacheConfig(
  place: ServerPlace,
  {
    php,
    handlerPaths,
    cgi = false,
    withOwnLimits = false,
  }: {
    readonly php: string;
    readonly handlerPaths: string;
    readonly cgi?: boolean;
    readonly withOwnLimits?: boolean;
  },
): string {
  const load = (name: string) => `LoadModule ${name}_module ${join(modules, `mod_${name}.so`)}`;
  return `
ServerRoot ${place.folder}
ServerName localhost
PidFile ${join(place.folder, 'httpd.pid')}
Listen 127.0.0.1:${place.port}
ErrorLog /dev/stderr
${withOwnLimits ? '' : 'LimitRequestLine 32768\nLimitRequestFieldSize 32768'}
LogLevel crit
${['mpm_event', 'authz_core', 'alias', 'cgid', 'env', 'setenvif'].map(load).join('\n')}
ScriptSock ${join(place.folder, 'cgisock')}
${process.getuid?.() === 0 ? 'User www-data\nGroup www-data' : ''}
DocumentRoot ${place.folder}
<Directory ${place.folder}>
  Require all granted
</Directory>
${cgi ? scriptLines(place, php, handlerPaths) : aliasLines(place)}
`;
}

function scriptLines(place: ServerPlace, php: string, handlerPaths: string): string {
  return `
ScriptAlias / ${php}/
SetEnv UPSTREAM_RECORD ${place.record}
SetEnv UPSTREAM_HANDLERS ${Buffer.from(handlerPaths).toString('base64')}
`;
}

/** One alias a handler, the longest path first; the note that the log writes is set where the alias matched. */
function aliasLines(place: ServerPlace): string {
  const bySpecificity = [...handlers].sort((a, b) => b.path.length - a.path.length);
  const pattern = ({ path, exact }: Handler) =>
    `"^${path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}${exact ? '/?$' : '(/|$)'}"`;
  const served = join(place.folder, 'served');
  const headers = watchedNames.map((name) => `[\\"${name}\\",\\"%{${name}}i\\"]`).join(',');
  const line = `{\\"handler\\":\\"%{HANDLER}e\\",\\"method\\":\\"%m\\",\\"path\\":\\"%U\\",\\"headers\\":[${headers}],\\"root\\":\\"\\",\\"user\\":\\"%u\\",\\"address\\":\\"%a\\",\\"scheme\\":\\"http\\",\\"body\\":\\"\\"}`;
  return `
${bySpecificity.map((handler) => `AliasMatch ${pattern(handler)} ${served}`).join('\n')}
AliasMatch ^/ ${served}
LogFormat "${line}" record
CustomLog ${place.record} record
${[...bySpecificity]
  .reverse()
  .map(
    (handler) => `<LocationMatch ${pattern(handler)}>\n  SetEnv HANDLER "${handler.path}"\n</LocationMatch>`,
  )
  .join('\n')}
`;
}
