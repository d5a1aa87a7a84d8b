/** What `/metrics` says of the connections to an upstream. */
export interface PoolGauges {
  readonly open: number;
  readonly waiting: number;
}

/** Reads the gauges of an upstream's pool. */
export async function readPoolGauges(managementPort: number, upstream = 'app'): Promise<PoolGauges> {
  const answer = await fetch(`http://127.0.0.1:${managementPort}/metrics`);
  const text = await answer.text();
  const gauge = (name: string) =>
    Number(new RegExp(`^postern_${name}\\{upstream="${upstream}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
  return { open: gauge('upstream_connections'), waiting: gauge('upstream_waiting') };
}

/** Resolves once the gauges are as said; rejects with the last ones seen after `milliseconds`. */
export async function poolBecomes(
  managementPort: number,
  isRight: (gauges: PoolGauges) => boolean,
  milliseconds = 5_000,
): Promise<void> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const gauges = await readPoolGauges(managementPort);
    if (isRight(gauges)) return;
    if (Date.now() > deadline) throw new Error(`${gauges.open} open, ${gauges.waiting} waiting`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
