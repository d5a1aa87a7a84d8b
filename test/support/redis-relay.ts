import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import type { TestScope } from './gateway.ts';
import { guessPort } from './loopback-port.ts';
import { type RelayConnection, relayConnection } from './redis-relay-connection.ts';
import { type ArmedRule, createRelayRules, type RelayCommand, type RelayRule } from './redis-relay-faults.ts';

/** A relay between a client and a Redis that can go wrong at any command. */
export interface RedisRelay {
  readonly port: number;
  /** `redis://127.0.0.1:<port>`. */
  readonly url: string;
  /** How many times each command has come so far, by its name in lower case. */
  readonly seen: ReadonlyMap<string, number>;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Connections open now. */
  readonly open: number;
  /** From now on that rule holds, besides those armed before. */
  arm(rule: RelayRule): ArmedRule;
  /** Ends every connection, whatever is under way on it. */
  cut(): void;
  /** Ends every connection and refuses new ones. */
  refuse(): Promise<void>;
  /** Connections stay and are made, and nothing that comes on them is passed on or answered. */
  blackHole(): void;
  /** Disarms every rule and lets new connections through; those from within a black hole stay silent. */
  restore(): Promise<void>;
}

/** Starts one in front of that Redis, on a free loopback port. */
export async function startRedisRelay(t: TestScope, redis: { readonly port: number }): Promise<RedisRelay> {
  const rules = createRelayRules();
  const seen = new Map<string, number>();
  const connections = new Set<RelayConnection>();
  const state = { accepted: 0, isBlackHole: false };
  const treat = (command: RelayCommand) => {
    seen.set(command.name, (seen.get(command.name) ?? 0) + 1);
    return rules.treat(command);
  };
  const listener = createServer((client) => {
    state.accepted++;
    const connection = relayConnection(client, connect(redis.port, '127.0.0.1'), treat);
    if (state.isBlackHole) connection.silence();
    connections.add(connection);
    client.on('close', () => connections.delete(connection));
  });
  const port = await listenOnFreePort(listener);
  const cut = () => {
    for (const connection of connections) connection.cut();
  };
  const refuse = async () => {
    const closed = listener.listening ? once(listener, 'close') : null;
    listener.close();
    cut();
    await closed;
  };
  t.teardown(refuse);
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    seen,
    get accepted() {
      return state.accepted;
    },
    get open() {
      return connections.size;
    },
    arm: rules.arm,
    cut,
    refuse,
    blackHole() {
      state.isBlackHole = true;
      for (const connection of connections) connection.silence();
    },
    async restore() {
      rules.disarmAll();
      state.isBlackHole = false;
      if (!listener.listening) await listen(listener, port);
    },
  };
}

async function listenOnFreePort(listener: Server): Promise<number> {
  for (let triesLeft = 20; ; triesLeft--) {
    const port = guessPort();
    try {
      await listen(listener, port);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || triesLeft === 0) throw error;
    }
  }
}

async function listen(listener: Server, port: number): Promise<void> {
  listener.listen(port, '127.0.0.1');
  await once(listener, 'listening');
}
