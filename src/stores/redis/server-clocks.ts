import { Cluster } from 'ioredis';
import { type ClockReading, compareClock } from '../remote/server-clock.ts';
import { timeOf } from './connection.ts';
import type { RedisLink } from './link.ts';

/** Compares `now`, epoch ms, with the clocks of Redis: in a Cluster of every master that can be reached. */
export function compareRedisClocks(link: RedisLink, now: () => number): Promise<readonly ClockReading[]> {
  return link.read(async (client) => {
    const nodes = client instanceof Cluster ? client.nodes('master') : [client];
    const compared = await Promise.allSettled(nodes.map((node) => compareClock(now, () => timeOf(node))));
    const readings = compared.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failed = compared.find((one) => one.status === 'rejected');
    if (readings.length === 0 && failed !== undefined) throw failed.reason;
    return readings;
  });
}
