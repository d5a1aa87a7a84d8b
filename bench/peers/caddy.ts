import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../machine.ts';
import { installedProgram, installedVersion } from './installed.ts';
import { asPeer, startListening } from './launch.ts';
import type { Peer } from './peer.ts';
import { staticCredentials, writeKeys } from './static-keys.ts';

/** Caddy with the keys in its configuration. */
export const caddy: Peer = {
  name: 'caddy-key-map',
  description: 'Caddy, static `map` of the keys',
  refusal: 401,
  identity: 'X-Auth-Subject',
  version: () => installedVersion('caddy'),
  async start(surroundings) {
    const { directory, upstreamPort } = surroundings;
    const port = await freePort();
    const keysFile = writeKeys(surroundings, 'caddy-keys', (key, subject) => `${key} ${subject}`);
    const file = join(directory, 'Caddyfile');
    writeFileSync(file, configuration(port, upstreamPort, keysFile));
    const program = {
      name: 'caddy',
      command: installedProgram('caddy'),
      args: ['run', '--config', file, '--adapter', 'caddyfile'],
      env: { XDG_CONFIG_HOME: directory, XDG_DATA_HOME: directory },
    };
    const proxy = await startListening(surroundings, program, port);
    return asPeer(surroundings, port, staticCredentials(surroundings), [proxy]);
  },
};

function configuration(port: number, upstreamPort: number, keysFile: string): string {
  return `
{
  admin off
  auto_https off
  persist_config off
  log {
    level ERROR
  }
}
http://127.0.0.1:${port} {
  map {http.request.header.X-API-Key} {subject} {
    import ${keysFile}
    default ""
  }
  @unknown vars {subject} ""
  respond @unknown 401
  reverse_proxy 127.0.0.1:${upstreamPort} {
    header_up X-Auth-Subject {subject}
    header_up -X-API-Key
    transport http {
      keepalive_idle_conns_per_host 128
    }
  }
}
`;
}
