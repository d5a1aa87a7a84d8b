import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../machine.ts';
import { installedProgram, installedVersion } from './installed.ts';
import { asPeer, startListening } from './launch.ts';
import type { Peer } from './peer.ts';
import { staticCredentials } from './static-keys.ts';

/** Envoy with the keys in its configuration; the client that belongs to a key is forwarded. */
export const envoyApiKey: Peer = {
  name: 'envoy-api-key',
  description: 'Envoy, one worker thread, filter `api_key_auth` with the keys in its configuration',
  refusal: 401,
  identity: 'X-Auth-Subject',
  version: () => installedVersion('envoy'),
  async start(surroundings) {
    const { directory, upstreamPort, keys } = surroundings;
    const port = await freePort();
    const file = join(directory, 'envoy.json');
    writeFileSync(file, JSON.stringify(configuration(port, upstreamPort, keys)));
    const args = [
      '--config-path',
      file,
      '--concurrency',
      '1',
      '--disable-hot-restart',
      '--log-level',
      'error',
    ];
    const program = { name: 'envoy', command: installedProgram('envoy'), args };
    const proxy = await startListening(surroundings, program, port);
    return asPeer(surroundings, port, staticCredentials(surroundings), [proxy]);
  },
};

function configuration(port: number, upstreamPort: number, keys: readonly string[]): object {
  return {
    static_resources: {
      listeners: [
        {
          address: socketAddress(port),
          filter_chains: [{ filters: [extension('network.http_connection_manager', manager(keys))] }],
        },
      ],
      clusters: [
        {
          name: 'app',
          type: 'STATIC',
          load_assignment: {
            cluster_name: 'app',
            endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress(upstreamPort) } }] }],
          },
        },
      ],
    },
  };
}

function manager(keys: readonly string[]): Typed {
  const authentication: Typed = {
    type: 'envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuth',
    credentials: keys.map((key, index) => ({ key, client: `subject-${index}` })),
    key_sources: [{ header: 'X-API-Key' }],
    forwarding: { header: 'X-Auth-Subject', hide_credentials: true },
  };
  return {
    type: 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'clients',
    route_config: {
      virtual_hosts: [
        { name: 'app', domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster: 'app' } }] },
      ],
    },
    http_filters: [
      extension('http.api_key_auth', authentication),
      extension('http.router', { type: 'envoy.extensions.filters.http.router.v3.Router' }),
    ],
  };
}

/** A message of an extension, with its type's name. */
interface Typed {
  readonly type: string;
  readonly [field: string]: unknown;
}

function extension(name: string, { type, ...fields }: Typed): object {
  return {
    name: `envoy.filters.${name}`,
    typed_config: { '@type': `type.googleapis.com/${type}`, ...fields },
  };
}

function socketAddress(port: number): object {
  return { socket_address: { address: '127.0.0.1', port_value: port } };
}
