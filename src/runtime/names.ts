import type { LookupFunction } from 'node:net';
import type { FindAddresses } from '../http1/client/client-socket.ts';
import type { Log } from '../log/log.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { createLookup } from '../names/lookup.ts';
import type { NameError } from '../names/name-error.ts';
import { Names } from '../names/names.ts';
import { createSystemResolver, type Resolve } from '../names/system-resolver.ts';

/** Lookups of the hosts that a gateway connects to by name. */
export interface GatewayNames {
  /** Lookup for upstreams, whose requests have timeouts of their own. */
  readonly findAddresses: FindAddresses;
  /** Creates the `lookup` of connections that libraries open; it fails after `timeoutMs`. */
  lookupWithin(timeoutMs: number): LookupFunction;
}

type Failure = 'not_found' | 'unavailable';
const failureOf: Record<NameError['code'], Failure> = { ENOTFOUND: 'not_found', EAI_AGAIN: 'unavailable' };

/** Creates the one cache of names that a process has; failed lookups are counted, and silent name servers logged. */
export function createGatewayNames(
  log: Log,
  registry: MetricsRegistry,
  resolve: Resolve = createSystemResolver(),
): GatewayNames {
  const failures = registry.counts<Failure>(
    'reason',
    'name_lookups_failed_total',
    'Failed lookups of host names, by reason: not_found, unavailable (no name server responded).',
    ['not_found', 'unavailable'],
  );
  const names = new Names({
    resolve,
    events: {
      onFailed(code) {
        failures[failureOf[code]]++;
      },
      onUnavailable: (host, { reason, earlier }) =>
        log.warn('name lookup failed: name servers unavailable', {
          host,
          reason,
          earlier_addresses_in_use: earlier,
        }),
      onAvailable: (host) => log.info('name lookup works again', { host }),
    },
  });
  return {
    findAddresses: (host, done) => names.find(host, done),
    lookupWithin: (timeoutMs) => createLookup(names, timeoutMs),
  };
}
