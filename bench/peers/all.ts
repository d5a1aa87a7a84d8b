import { fastifyHttpProxy } from './fastify-http-proxy.ts';
import { haproxy } from './haproxy.ts';
import { httpProxy3 } from './http-proxy-3.ts';
import { nginxAuthRequest } from './nginx-auth-request.ts';
import { nginxKeyMap } from './nginx-key-map.ts';
import type { Peer } from './peer.ts';
import {
  posternBearer,
  posternBearerRedis,
  posternBrowser,
  posternKey,
  posternKeyNodeEngine,
  posternKeyPostgres,
} from './postern.ts';

/** The peer that every ratio is to. */
export const reference = httpProxy3.name;

/** Every row of the results, in the order in which they have their turns. */
export const peers: readonly Peer[] = [
  posternKey,
  posternBearer,
  posternBrowser,
  posternBearerRedis,
  posternKeyPostgres,
  posternKeyNodeEngine,
  httpProxy3,
  fastifyHttpProxy,
  nginxKeyMap,
  haproxy,
  nginxAuthRequest,
];
