import { connect } from 'node:net';
import type { TestScope } from '../gateway/gateway.ts';
import { startRelayListener } from '../servers/relay-listener.ts';
import { relayConnection } from './redis-relay-connection.ts';
import { type ArmedRule, createRelayRules, type RelayCommand, type RelayRule } from './redis-relay-faults.ts';

/** A relay between a client and a Redis that can fail at any command. */
export interface RedisRelay {
  readonly port: number;
  /** `redis://127.0.0.1:<port>`. */
  readonly url: string;
  /** How many times each command has arrived so far, by its name in lower case. */
  readonly seen: ReadonlyMap<string, number>;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Connections open now. */
  readonly open: number;
  /** Arms a rule, in addition to those armed before. */
  arm(rule: RelayRule): ArmedRule;
  /** Ends every connection, whatever is in progress on it. */
  cut(): void;
  /** Ends every connection and refuses new ones. */
  refuse(): Promise<void>;
  /** Connections stay and are accepted, and nothing on them is passed on or answered. */
  blackHole(): void;
  /** Disarms every rule and lets new connections through; those from a black hole stay silent. */
  restore(): Promise<void>;
}

/** Starts one in front of that Redis, on a free loopback port. */
export async function startRedisRelay(t: TestScope, redis: { readonly port: number }): Promise<RedisRelay> {
  const rules = createRelayRules();
  const seen = new Map<string, number>();
  let isBlackHole = false;
  const treat = (command: RelayCommand) => {
    seen.set(command.name, (seen.get(command.name) ?? 0) + 1);
    return rules.treat(command);
  };
  const listener = await startRelayListener(t, (client) => {
    const connection = relayConnection(client, connect(redis.port, '127.0.0.1'), treat);
    if (isBlackHole) connection.silence();
    return connection;
  });
  const { port, connections } = listener;
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    seen,
    get accepted() {
      return listener.accepted;
    },
    get open() {
      return connections.size;
    },
    arm: rules.arm,
    cut() {
      for (const connection of connections) connection.cut();
    },
    refuse: listener.close,
    blackHole() {
      isBlackHole = true;
      for (const connection of connections) connection.silence();
    },
    async restore() {
      rules.disarmAll();
      isBlackHole = false;
      await listener.reopen();
    },
  };
}
