import { setTimeout as sleep } from 'node:timers/promises';
import { scrape } from './scrape.ts';

/** The gauges of the connections to an upstream, from `/metrics`. */
export interface PoolGauges {
  readonly busy: number;
  readonly free: number;
  /** Both. */
  readonly open: number;
  readonly waiting: number;
}

/** Reads the gauges of an upstream's pool. */
export async function readPoolGauges(managementPort: number, upstream = 'app'): Promise<PoolGauges> {
  const { value } = await scrape(managementPort);
  const inState = (state: string) => value('upstream_connections', { upstream, state });
  return {
    busy: inState('busy'),
    free: inState('free'),
    open: inState('busy') + inState('free'),
    waiting: value('upstream_waiting', { upstream }),
  };
}

/** Resolves once the condition holds; rejects after `milliseconds` with the last gauges seen. */
export async function poolBecomes(
  managementPort: number,
  isRight: (gauges: PoolGauges) => boolean,
  milliseconds = 60_000,
): Promise<void> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const gauges = await readPoolGauges(managementPort);
    if (isRight(gauges)) return;
    if (Date.now() > deadline) throw new Error(`it stays at ${JSON.stringify(gauges)}`);
    await sleep(5);
  }
}
