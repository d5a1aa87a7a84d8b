import { isDeepStrictEqual } from 'node:util';
import {
  type ConfiguredFiles,
  filesOfStores,
  hasChanged,
  storeFileKeys,
} from '../config/configured-files.ts';
import type { Config, DecisionListenerConfig } from '../config/sections/schema.ts';

/** A new configuration as far as a running gateway can adopt it. */
export interface RestartOnly {
  /** Keys that can't be adopted: they differ and need a restart. */
  readonly keys: readonly string[];
  /** The new configuration with the running values of those keys. */
  readonly config: Config;
}

/**
 * Creates a function that finds the keys that need a restart: tenant, addresses, ports, engine, workers, TLS turned on or off,
 * and stores with all settings they were opened with, including the content of their files at the start, `opened`.
 */
export function rememberStart(opened: ConfiguredFiles): (running: Config, wanted: Config) => RestartOnly {
  return (running, wanted) => {
    const { keys, config } = compare(running, wanted);
    const renewed = storeFileKeys.filter((key) =>
      filesOfStores(running.stores, key).some((path) => hasChanged(opened, path)),
    );
    return { keys: [...keys, ...renewed.map((key) => `stores.${key}`)], config };
  };
}

function compare(running: Config, wanted: Config): RestartOnly {
  const { listen } = wanted;
  const { host, port, engine } = running.listen;
  // Turning TLS on or off needs a new listener; another certificate does not.
  const tls =
    (running.listen.tls === undefined) === (listen.tls === undefined) ? listen.tls : running.listen.tls;
  const { listeners, others } = adoptedListeners(running.forward_auth, wanted.forward_auth);
  const config: Config = {
    ...wanted,
    tenant: running.tenant,
    listen: { ...listen, host, port, engine, tls },
    management: running.management,
    forward_auth: listeners,
    stores: running.stores,
    workers: running.workers,
  };
  const changed: [key: string, running: unknown, wanted: unknown][] = [
    ['tenant', running.tenant, wanted.tenant],
    ['listen.host', running.listen.host, listen.host],
    ['listen.port', running.listen.port, listen.port],
    ['listen.engine', running.listen.engine, listen.engine],
    ['listen.tls', tls, listen.tls],
    ['management', running.management, wanted.management],
    ['forward_auth', 0, others],
    ['stores', running.stores, wanted.stores],
    ['workers', running.workers, wanted.workers],
  ];
  const keys = changed.filter(([, was, is]) => !isDeepStrictEqual(was, is)).map(([key]) => key);
  return { keys, config };
}

/**
 * The running decision listeners, each with its settings in the new configuration, or its current ones if the new one has no such
 * listener. `others` counts the listeners that only one of the two has: only a restart opens or closes one.
 */
function adoptedListeners(
  running: Config['forward_auth'],
  wanted: Config['forward_auth'],
): { readonly listeners: Config['forward_auth']; readonly others: number } {
  const left = [...wanted];
  let unmatched = 0;
  const listeners = running.map((was) => {
    const at = left.findIndex((is) => isDeepStrictEqual(boundOf(is), boundOf(was)));
    if (at >= 0) return left.splice(at, 1)[0]!;
    unmatched += 1;
    return was;
  });
  return { listeners, others: unmatched + left.length };
}

/** Settings of a decision listener that are fixed once it is open. */
function boundOf({ mode, host, port, tls }: DecisionListenerConfig) {
  return { mode, host, port, hasTls: tls !== undefined };
}
