import type { Test } from 'tap';
import { openRedisStores, type RedisStores, type RedisStoresOptions } from '../../src/stores/redis/open.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { redisAddress } from '../support/stores/store-addresses.ts';

/**
 * The tests are about what the stores do, not how soon: a busy machine may stall for longer than the default of 500 ms.
 */
const patientTimeoutMs = 10_000;

let tenants = 0;

/** A tenant of its own, so that tests share a server and nothing on it. */
export function newTenant(): string {
  tenants += 1;
  return `tenant-${process.pid}-${tenants}`;
}

/** Access to the Redis at that address without a password. */
export function accessTo(address: string): RedisStoresOptions['access'] {
  return {
    address: redisAddress(address),
    username: undefined,
    password: undefined,
    sentinelPassword: undefined,
    tls: undefined,
  };
}

/** Opens the stores of a tenant at that address and waits until they are connected; closed by the test's teardown. */
export async function openRedisStoresUnderTest(
  t: Test,
  address: string,
  options: Partial<Omit<RedisStoresOptions, 'events'>> & { readonly tenant: string },
): Promise<RedisStores> {
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  const stores = openRedisStores({
    access: accessTo(address),
    commandTimeoutMs: isLong ? 500 : patientTimeoutMs,
    livenessAgeMs: 5_000,
    staleIfErrorMs: () => 30_000,
    events: { onUnavailable: () => {}, onAvailable: resolve, onNotificationsLost: () => {} },
    ...options,
  });
  t.teardown(() => stores.sessions.close());
  await connected;
  return stores;
}
