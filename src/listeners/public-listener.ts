import type { Socket } from 'node:net';
import type { Config } from '../config/sections/schema.ts';
import { addressKey } from '../credentials/address-key.ts';
import { longExchangeTargets } from '../endpoints/provider-paths.ts';
import { clientAddress, createTrustedProxies, type TrustedProxies } from '../http/client-address.ts';
import { Exchange } from '../http/exchange.ts';
import { hstsFields } from '../http/hsts.ts';
import { asItIs } from '../http/reply.ts';
import type { ListenerTls } from '../http1/server/tls-settings.ts';
import {
  HttpListener,
  type ListenerParts,
  type ListenerRole,
  type ListenerSettings,
  listenerLimits,
} from './http-listener.ts';

/** Creates the listener for clients; `tls`: null for plain HTTP. */
export function createPublicListener(
  config: Config,
  tls: ListenerTls | null,
  parts: ListenerParts,
): HttpListener {
  return new HttpListener(config, tls, publicRole(parts), parts);
}

function publicRole({ current, onConnectionRefused }: ListenerParts): ListenerRole {
  const byAddress = new ConnectionsByAddress();
  let connectionsPerAddress: number;
  let proxies: TrustedProxies;
  return {
    decidesFor: '',
    adopt(config) {
      connectionsPerAddress = config.limits.connections_per_address;
      proxies = createTrustedProxies(config.trusted_proxies);
      return settingsOf(config);
    },
    admits(socket) {
      const admitted = byAddress.admit(socket, connectionsPerAddress);
      if (!admitted) onConnectionRefused('address');
      return admitted;
    },
    createExchange(channel, response, head, text) {
      const { peer } = channel;
      const fromTrustedProxy = proxies.isTrusted(peer);
      const address = fromTrustedProxy ? clientAddress(peer, head.forwardedFor, proxies) : peer;
      return new Exchange(channel, response, head, text, address, fromTrustedProxy);
    },
    refusalShape: asItIs,
    respond: (exchange, refusal) => current.gateway.handle(exchange, refusal),
    refuseBegun: (request, refusal) => current.gateway.refuseBegun(request, refusal),
  };
}

function settingsOf({ api_path: apiPath, limits, identity_providers, listen }: Config): ListenerSettings {
  return {
    limits: listenerLimits(limits),
    longTargets: longExchangeTargets(apiPath, Object.keys(identity_providers)),
    unreadableFields: listen.hsts ? hstsFields : [],
  };
}

class ConnectionsByAddress {
  readonly #counts = new Map<string, number>();

  /** Counts the connection until it closes; returns false if its address already has `max` connections (0: no limit). */
  admit(socket: Socket, max: number): boolean {
    if (max === 0) return true;
    const key = addressKey(socket.remoteAddress ?? '');
    const count = this.#counts.get(key) ?? 0;
    if (count >= max) return false;
    this.#counts.set(key, count + 1);
    socket.once('close', () => this.#leave(key));
    return true;
  }

  #leave(key: string): void {
    const left = this.#counts.get(key)! - 1;
    if (left === 0) this.#counts.delete(key);
    else this.#counts.set(key, left);
  }
}
