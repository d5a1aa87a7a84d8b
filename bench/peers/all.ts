import { caddy } from './caddy.ts';
import { envoyApiKey } from './envoy.ts';
import { fastifyHttpProxy } from './fastify-http-proxy.ts';
import { goProxy } from './go-proxy.ts';
import { haproxy } from './haproxy.ts';
import { httpProxy3 } from './http-proxy-3.ts';
import { nginxAuthRequest } from './nginx-auth-request.ts';
import { nginxKeyMap } from './nginx-key-map.ts';
import { nginxPostern } from './nginx-postern.ts';
import { oathkeeperJwt } from './oathkeeper.ts';
import { oauth2ProxyCookie, oauth2ProxyJwt } from './oauth2-proxy.ts';
import type { Peer } from './peer.ts';
import {
  posternBearer,
  posternBearerRedis,
  posternBrowser,
  posternKey,
  posternKeyEdDsa,
  posternKeyHs256,
  posternKeyNodeEngine,
  posternKeyPostgres,
  posternKeyTwoWorkers,
} from './postern.ts';
import { traefikForwardAuth } from './traefik.ts';

/** What the first ratio is to: bare forwarding in Node. */
export const reference = httpProxy3.name;

/** What the other ratio is to: next to nothing but forwarding. */
export const fastest = nginxKeyMap.name;

/** Every row of the results, in the order in which they have their turns: what bounds compare is close together. */
export const peers: readonly Peer[] = [
  posternKey,
  posternBearer,
  posternKeyTwoWorkers,
  nginxKeyMap,
  envoyApiKey,
  httpProxy3,
  fastifyHttpProxy,
  posternKeyHs256,
  posternKeyEdDsa,
  posternBrowser,
  posternBearerRedis,
  posternKeyPostgres,
  posternKeyNodeEngine,
  haproxy,
  goProxy,
  nginxAuthRequest,
  nginxPostern,
  caddy,
  traefikForwardAuth,
  oauth2ProxyCookie,
  oauth2ProxyJwt,
  oathkeeperJwt,
];
