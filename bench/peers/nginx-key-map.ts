import { freePort } from '../machine.ts';
import { asPeer } from './launch.ts';
import { nginxVersion, startNginx } from './nginx-server.ts';
import type { Peer } from './peer.ts';
import { staticCredentials, writeKeys } from './static-keys.ts';

/** nginx with the keys in its configuration: fast, but reloaded for every key that is added or removed. */
export const nginxKeyMap: Peer = {
  name: 'nginx-key-map',
  description: 'nginx, one worker, static `map` of the keys',
  refusal: 401,
  identity: 'X-Auth-Subject',
  version: nginxVersion,
  async start(surroundings) {
    const port = await freePort();
    const keysFile = writeKeys(surroundings, 'nginx-keys', (key, subject) => `${key} ${subject};`);
    const nginx = await startNginx(surroundings, {
      name: 'nginx-key-map',
      port,
      http: `
  map_hash_max_size 8192;
  map_hash_bucket_size 128;
  map $http_x_api_key $subject { default ""; include ${keysFile}; }`,
      location: `
      if ($subject = "") { return 401; }
      proxy_set_header X-Auth-Subject $subject;`,
    });
    return asPeer(surroundings, port, staticCredentials(surroundings), [nginx]);
  },
};
