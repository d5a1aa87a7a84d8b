import type { Config } from '../config/sections/schema.ts';
import type { Upstream } from '../http1/client/client-pool.ts';
import type { SpareSockets } from '../http1/client/client-socket.ts';
import type { Log } from '../log/log.ts';
import { type OutboundNeeds, outboundNeeds, storeNeeds } from './descriptor-needs.ts';

/** What accepts the clients' connections. */
export interface ClientListener {
  /** Open sockets of clients. */
  readonly sockets: number;
  limitConnections(count: number): void;
}

/** Open connections of the proxies that ask for decisions. */
export type DecisionSockets = Pick<ClientListener, 'sockets'>;

/** The pools of one configuration. */
export interface PooledUpstream {
  readonly upstream: Pick<Upstream, 'load' | 'closeFree'>;
  /** Of one of its connections. */
  readonly descriptors: number;
}

/** The pools' part of the budget, until they are closed. */
export interface PoolShare {
  /** They open no connections any more but for requests under way. */
  retire(): void;
  /** They are closed. */
  release(): void;
}

/** The pools of one configuration; those of an earlier one last until its last exchange. */
interface Generation {
  readonly pools: readonly PooledUpstream[];
  readonly needs: OutboundNeeds;
  isRetired: boolean;
}

/** How many connections of probes and scrapes there may be, if there are descriptors enough. */
const maxManagementConnections = 100;
/** For files read again, traces, and names looked up: eight for one about which every name server is silent. */
const maxSpareFiles = 32;
/** For addresses of upstreams that are tried side by side. */
const maxSpareSockets = 64;
/** For peers that may not ask for decisions; each is connected for a second. */
const maxStrangers = 64;
/** For proxies that ask for decisions, whatever clients take; more as long as those leave it. */
const leastDecisionConnections = 64;
/** Each of these is at most this part of a low limit, but never less than that. */
const lowLimitPart = 1 / 16;
const leastOfEach = 8;

/**
 * Shares the file descriptors between clients and what serving them takes. What stores, management and spare files need is
 * kept back, and so is what serving the clients needs: each client connection has one request under way, which takes one
 * connection to an upstream or to an identity provider at most. Upgraded connections leave their pool, and count apart.
 *
 * With c clients, u of them upgraded, and p descriptors for full pools, c + u + min(p, c - u) must fit into what is left.
 * As many clients as half of that always fit (a third where each request takes two, as the echo's do), and so do all but u
 * and p: the larger number is accepted. Upgrades beyond that are refused. Free connections of pools, which serve no client,
 * are closed when another is needed.
 */
export class DescriptorBudget {
  /** Connections that the management listener may have open. */
  readonly managementConnections: number;
  /** For addresses of upstreams that are tried side by side. */
  readonly spareSockets: SpareSockets;
  /** Connections of peers that may not ask for decisions. */
  readonly strangers: number;
  readonly #limit: number;
  /** For everything but clients and what they are served by. */
  readonly #kept: number;
  /** Connections to identity providers that are open. */
  #calls = 0;
  readonly #generations = new Set<Generation>();
  #listener: ClientListener | null = null;
  #decisions: DecisionSockets = { sockets: 0 };
  readonly #leastDecisions: number;
  /** `limits.connections`. */
  #wanted = Number.POSITIVE_INFINITY;
  #connections = Number.POSITIVE_INFINITY;

  /** `limit`: of this process; `open`: descriptors that are open before any store and listener is. */
  constructor(config: Config, limit: number, open: number) {
    const part = (most: number) => Math.max(leastOfEach, Math.min(most, Math.floor(limit * lowLimitPart)));
    this.managementConnections = part(maxManagementConnections);
    const sockets = part(maxSpareSockets);
    this.spareSockets = createSpareSockets(sockets);
    this.#limit = limit;
    const decides = config.forward_auth.length > 0;
    this.#leastDecisions = decides ? part(leastDecisionConnections) : 0;
    this.strangers = decides ? part(maxStrangers) : 0;
    const ofDecisions = this.#leastDecisions + this.strangers + config.forward_auth.length;
    const others = this.managementConnections + ofDecisions;
    this.#kept = open + storeNeeds(config) + others + part(maxSpareFiles) + sockets;
  }

  /** The most client connections that are accepted now. */
  get connections(): number {
    return this.#connections;
  }

  /** Whether fewer clients are accepted than the configuration allows. */
  get isShort(): boolean {
    return this.#connections < this.#wanted;
  }

  /** Takes the pools of a configuration into account. */
  openPools(config: Config, pools: readonly PooledUpstream[]): PoolShare {
    const generation: Generation = { pools, needs: outboundNeeds(config), isRetired: false };
    this.#generations.add(generation);
    return {
      retire: () => {
        generation.isRetired = true;
      },
      release: () => this.#generations.delete(generation),
    };
  }

  /** Counts these among the clients from now on. */
  watchDecisions(decisions: DecisionSockets): void {
    this.#decisions = decisions;
  }

  /** Whether there is room for the connection of a proxy that has just been opened. */
  readonly admitsDecision = (): boolean =>
    this.#decisions.sockets < this.#leastDecisions || this.#clients() < this.#connections;

  /** Limits this listener's connections from now on; warns if the configuration allows more than there is room for. */
  applyTo(listener: ClientListener, { limits }: Config, log: Pick<Log, 'warn'>): void {
    this.#listener = listener;
    this.#wanted = limits.connections;
    this.fit();
    if (!this.isShort) return;
    const { atMost, perRequest } = this.#outbound();
    const needed = this.#kept + limits.connections + Math.min(atMost, perRequest * limits.connections);
    log.warn('too few file descriptors for limits.connections', {
      limit: this.#limit,
      needed,
      connections: this.#connections,
    });
  }

  /** Makes the listener's limit that of this moment: retired pools and upgraded connections take from it. */
  fit(): void {
    const { atMost, perRequest } = this.#outbound();
    const left = this.#limit - this.#kept;
    const most = Math.max(left - atMost - this.#upgraded(), Math.floor(left / (1 + perRequest)), 1);
    this.#connections = Math.min(this.#wanted, most);
    this.#listener?.limitConnections(Math.max(1, this.#connections - this.#decisionsBeyondLeast()));
  }

  /** Whether there is room for an upgraded connection; once it has been `switched`, fewer clients are accepted for it. */
  hasRoomForUpgrade(stage: 'asked' | 'switched'): boolean {
    const clients = this.#clients();
    const upgraded = this.#upgraded() + (stage === 'asked' ? 1 : 0);
    const { atMost, perRequest } = this.#outbound();
    const others = Math.min(atMost, perRequest * Math.max(0, clients - upgraded));
    if (clients + upgraded + others > this.#limit - this.#kept) return false;
    if (stage === 'switched') this.fit();
    return true;
  }

  /** Called before a connection is opened to an upstream: closes a free one of any pool if it would be one too many. */
  readonly makeRoom = (): void => {
    const clients = this.#clients();
    const left = this.#limit - this.#kept - clients - this.#upgraded() - this.#calls;
    if (left > this.#pooled()) return;
    for (const { pools } of this.#generations)
      for (const { upstream } of pools) if (upstream.closeFree()) return;
  };

  /** Likewise, to an identity provider; the returned function is called once it is closed. */
  readonly beginCall = (): (() => void) => {
    this.makeRoom();
    this.#calls += 1;
    return () => {
      this.#calls -= 1;
    };
  };

  /** Without those for which descriptors are kept back. */
  #clients(): number {
    return (this.#listener?.sockets ?? 0) + this.#decisionsBeyondLeast();
  }

  #decisionsBeyondLeast(): number {
    return Math.max(0, this.#decisions.sockets - this.#leastDecisions);
  }

  /** Of all pools: those of retired ones can't become more. */
  #outbound(): OutboundNeeds {
    let atMost = 0;
    let perRequest = 1;
    for (const { isRetired, needs, pools } of this.#generations) {
      atMost += isRetired ? pooledIn(pools) : needs.atMost;
      perRequest = Math.max(perRequest, needs.perRequest);
    }
    return { atMost, perRequest };
  }

  #pooled(): number {
    let sum = 0;
    for (const { pools } of this.#generations) sum += pooledIn(pools);
    return sum;
  }

  #upgraded(): number {
    let sum = 0;
    for (const { pools } of this.#generations)
      for (const { upstream } of pools) sum += upstream.load().upgraded;
    return sum;
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

function pooledIn(pools: readonly PooledUpstream[]): number {
  return pools.reduce((sum, { upstream, descriptors }) => {
    const { busy, free } = upstream.load();
    return sum + descriptors * (busy + free);
  }, 0);
}
