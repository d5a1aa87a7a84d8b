import type { SingleUse } from '../single-use.ts';
import type { Keys } from './keys.ts';
import type { RedisLink } from './link.ts';
import { scripts } from './scripts.ts';

/** Values that can be used only once, in Redis: once for all gateways together. */
export function createRedisSingleUse(link: RedisLink, keys: Keys): SingleUse {
  return {
    async consume(id, expires) {
      const [outcome] = await link.run(scripts.useOnce, keys.used(id), [expires]);
      return outcome === 'first';
    },

    async release(id) {
      await link.run(scripts.release, keys.used(id), []);
    },
  };
}
