import type { Config } from '../config/sections/schema.ts';

/** The configuration of one of `count` workers: it has an even part, rounded up, of what is bounded for the gateway as a whole. */
export function evenPart(config: Config, count: number): Config {
  const part = (whole: number) => Math.ceil(whole / count);
  const { limits, passwords, upstreams } = config;
  return {
    ...config,
    limits: {
      ...limits,
      connections: part(limits.connections),
      connections_per_address: part(limits.connections_per_address),
    },
    passwords: {
      ...passwords,
      concurrency: part(passwords.concurrency),
      queue: part(passwords.queue),
    },
    upstreams: Object.fromEntries(
      Object.entries(upstreams).map(([name, upstream]) => [
        name,
        {
          ...upstream,
          max_connections: part(upstream.max_connections),
          max_waiting: part(upstream.max_waiting),
        },
      ]),
    ),
  };
}
