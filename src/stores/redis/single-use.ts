import type { SingleUse } from '../single-use.ts';
import type { RedisLink } from './link.ts';
import { scripts } from './scripts.ts';
import { countFrom } from './session-fields.ts';

/** Values that can be used only once, in Redis: once for all gateways together. */
export function createRedisSingleUse(link: RedisLink): SingleUse {
  return {
    async consume(id, expires) {
      const [outcome] = await link.run(scripts.useOnce, link.keys.used(id), [expires]);
      return outcome === 'first';
    },

    wasConsumed: (id) =>
      link.read(
        (client) => client.exists(link.keys.used(id)),
        (count) => countFrom(count) > 0,
      ),

    async release(id) {
      await link.run(scripts.release, link.keys.used(id), []);
    },
  };
}
