import { readdirSync } from 'node:fs';
import type { Config } from '../config/sections/schema.ts';
import type { Upstream } from '../http1/client/client-pool.ts';
import type { SpareSockets } from '../http1/client/client-socket.ts';
import { maxProviderConnections } from '../identity-providers/max-provider-connections.ts';
import type { Log } from '../log/log.ts';
import { atMost, managementConnections, readDescriptorLimit } from './descriptor-limit.ts';

/** Descriptors for reloaded files, trace export and name lookups; a lookup takes eight while every name server is silent. */
const maxSpareFiles = 32;
/** Maximum number of sockets for parallel attempts to reach further addresses of upstreams. */
const maxSpareSockets = 64;
/** Maximum number of connections of peers that may not ask for decisions; each lasts a second. */
const maxStrangers = 64;
/** Descriptors for SQLite files, or Redis with Sentinels and nodes, and for the process's own; PostgreSQL's pool is extra. */
const storesAndOwnFiles = 32;

/** Connection pools of the upstreams of one configuration. */
export type Pools = readonly Pick<Upstream, 'load' | 'closeFree'>[];

/**
 * Shares of the file descriptors that this process may have open, derived once at its start. The needs of stores, management and
 * spare files come first; half of the rest is for clients, half for upstreams: a client has one request in flight, which takes at
 * most one connection to an upstream, even once upgraded (two descriptors for the echo, whose other end is in this process).
 * Proxies that ask for decisions get as large a share as the clients.
 */
export class Descriptors {
  /** Maximum number of connections of peers that may not ask for decisions. */
  readonly strangers: number;
  /** Maximum number each of clients, connections to upstreams, and connections of proxies that ask for decisions. */
  readonly share: number;
  /** Sockets for addresses of upstreams that are tried side by side. */
  readonly spareSockets: SpareSockets;
  readonly #limit: number;
  readonly #kept: number;
  readonly #perClient: number;
  readonly #pools = new Set<Pools>();
  /** The configured `limits.connections`. */
  #wanted = Number.POSITIVE_INFINITY;

  /** `limit`: descriptors that this process may have open; `open`: those open before any store or listener. */
  constructor(config: Config, limit = readDescriptorLimit(), open = countOpenDescriptors()) {
    const { forward_auth, identity_providers, stores, upstreams } = config;
    const sockets = atMost(maxSpareSockets, limit);
    const decides = forward_auth.length > 0;
    const hasEcho = Object.values(upstreams).some(({ url }) => url.kind === 'echo');
    this.strangers = decides ? atMost(maxStrangers, limit) : 0;
    this.spareSockets = createSpareSockets(sockets);
    this.#limit = limit;
    this.#kept =
      open +
      storesAndOwnFiles +
      (stores.records.kind === 'sqlite' ? 0 : stores.records_connections) +
      managementConnections(limit) +
      this.strangers +
      forward_auth.length +
      Object.keys(identity_providers).length * atMost(maxProviderConnections, limit) +
      atMost(maxSpareFiles, limit) +
      sockets;
    this.#perClient = 2 + (hasEcho ? 1 : 0) + (decides ? 1 : 0);
    this.share = Math.max(1, Math.floor((limit - this.#kept) / this.#perClient));
  }

  /** Maximum number of client connections. */
  get connections(): number {
    return Math.min(this.#wanted, this.share);
  }

  /** True if fewer clients are accepted than the configuration allows. */
  get isShort(): boolean {
    return this.share < this.#wanted;
  }

  /** Limits this listener's connections from now on; warns if fewer than half of what the configuration allows fit. */
  applyTo(
    listener: { limitConnections(count: number): void },
    { limits: { connections } }: Config,
    log: Pick<Log, 'warn'>,
  ): void {
    this.#wanted = connections;
    listener.limitConnections(this.connections);
    if (this.share < connections / 2)
      log.warn('file descriptor limit too low for limits.connections: fewer connections are accepted', {
        descriptor_limit: this.#limit,
        descriptors_needed: this.#kept + this.#perClient * connections,
        connections_allowed: this.connections,
      });
  }

  /** Counts these pools until the returned function is called. */
  addPools(pools: Pools): () => void {
    this.#pools.add(pools);
    return () => this.#pools.delete(pools);
  }

  /** Called before a connection to an upstream is opened: if none is left, closes a free connection of any pool. */
  readonly makeRoom = (): void => {
    let open = 0;
    for (const pools of this.#pools)
      for (const pool of pools) {
        const { busy, free, upgraded } = pool.load();
        open += busy + free + upgraded;
      }
    if (open < this.share) return;
    for (const pools of this.#pools) for (const pool of pools) if (pool.closeFree()) return;
  };
}

/** Counts the descriptors that are open now; 0 where the system doesn't say. */
export function countOpenDescriptors(): number {
  try {
    // One of them is the folder itself, while it is read.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return 0;
  }
}

function createSpareSockets(count: number): SpareSockets {
  let left = count;
  return {
    take() {
      if (left === 0) return false;
      left -= 1;
      return true;
    },
    giveBack() {
      left += 1;
    },
  };
}
