import type { Test } from 'tap';
import type { RedisStores } from '../../src/stores/redis/open.ts';
import { runAttemptsSuite } from './attempts-suite.ts';
import { runProviderSessionsSuite } from './provider-sessions-suite.ts';
import { newTenant, openRedisStoresUnderTest } from './redis-stores.ts';
import { runSessionListsSuite } from './session-lists-suite.ts';
import { runSessionUsesSuite } from './session-uses-suite.ts';
import { runSessionsSuite } from './sessions-suite.ts';
import { runSingleUseSuite } from './single-use-suite.ts';
import { createManualClock } from './sqlite-stores.ts';

/** The addresses of the stores, and how a test gets at their contents. */
export interface RedisPlace {
  readonly name: string;
  readonly url: string;
  /** Runs a command on every server that accepts writes. */
  everywhere(...command: readonly string[]): Promise<readonly unknown[]>;
}

/** The contract of the stores in Redis, for every kind of Redis. */
export function runRedisStoresSuite({ name, url, everywhere }: RedisPlace): void {
  async function create(t: Test, pick: 'sessions'): Promise<SessionsPart>;
  async function create(t: Test, pick: 'singleUse'): Promise<SingleUsePart>;
  async function create(t: Test, pick: 'sessions' | 'singleUse'): Promise<unknown> {
    const tenant = newTenant();
    const { now, elapsed, advance, step } = createManualClock();
    const clock = { testClock: now, testElapsed: elapsed };
    const open = async () => (await openRedisStoresUnderTest(t, url, { tenant, ...clock }))[pick];
    return { store: await open(), openSecond: open, seesAtOnce: false, advance, step };
  }

  runSessionListsSuite({ name, create: (t) => create(t, 'sessions') });
  runSessionsSuite({ name, create: (t) => create(t, 'sessions') });
  runProviderSessionsSuite({ name, create: (t) => create(t, 'sessions') });
  runSessionUsesSuite({ name, create: (t) => create(t, 'sessions') });
  runSingleUseSuite({ name, create: (t) => create(t, 'singleUse') });
  runAttemptsSuite({
    name,
    async create(t) {
      const tenant = newTenant();
      const open = async () => (await openRedisStoresUnderTest(t, url, { tenant })).attempts;
      return { store: await open(), openSecond: open, advance: (ms) => shortenLives(tenant, ms) };
    },
  });

  /** The counters live by the server's clock alone: elapsed time is subtracted from their lifetimes, and in groups from the ends. */
  async function shortenLives(tenant: string, ms: number): Promise<void> {
    const script = `for _, key in ipairs(redis.call('KEYS', 'postern:${tenant}:*')) do
      local ends = function(count, at) return count .. string.format('%.0f', at - ${ms}) end
      if redis.call('TYPE', key).ok == 'hash' then
        local all = redis.call('HGETALL', key)
        for i = 1, #all, 2 do
          redis.call('HSET', key, all[i], (string.gsub(all[i + 1], '^(%d+ )(%d+)$', ends)))
        end
      end
      redis.call('PEXPIRE', key, math.max(redis.call('PTTL', key) - ${ms}, 0)) end`;
    await everywhere('EVAL', script, '0');
  }
}

type SessionsPart = Part<RedisStores['sessions']> & {
  readonly seesAtOnce: boolean;
  step(ms: number): void;
};
type SingleUsePart = Part<RedisStores['singleUse']>;

interface Part<Store> {
  readonly store: Store;
  openSecond(): Promise<Store>;
  advance(ms: number): void;
}
