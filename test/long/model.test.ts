import t from 'tap';
import type { ArrangementName } from '../model/machine/arrangements.ts';
import { describeViolations, playRun } from '../model/run.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { leeway } from '../support/gateway/replicas.ts';

// POSTERN_MODEL_STORES: arrangements, by commas; POSTERN_MODEL_SECONDS: how long each runs; POSTERN_MODEL_FAULTS: a
// pattern for what goes wrong, by the words in test/model/machine; POSTERN_MODEL_WORKERS: processes of a gateway; SEED: the operations and faults of an earlier run.
const all: readonly ArrangementName[] = ['sqlite', 'redis-postgres', 'sentinel', 'cluster'];
const small: readonly ArrangementName[] = ['sqlite', 'redis-postgres'];
const chosen = (process.env.POSTERN_MODEL_STORES?.split(',') ?? (isLong ? all : small)) as ArrangementName[];
const seconds = Number(process.env.POSTERN_MODEL_SECONDS ?? (isLong ? 150 : 4));
const workers = Number(process.env.POSTERN_MODEL_WORKERS ?? 1);
const faults = new RegExp(process.env.POSTERN_MODEL_FAULTS ?? '.');
const firstSeed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));

/** Every fault comes once in about that time, at the latest. */
const everyFaultSeconds = 150;

t.setTimeout((seconds + 180) * 1_000 * chosen.length);

for (const [index, arrangement] of chosen.entries()) {
  const seed = process.env.SEED === undefined ? firstSeed + index : firstSeed;
  t.test(`${arrangement}: no promise is broken in ${seconds} s`, async (t) => {
    t.comment(
      `SEED=${seed} POSTERN_MODEL_STORES=${arrangement} POSTERN_MODEL_SECONDS=${seconds} POSTERN_MODEL_WORKERS=${workers}`,
    );
    const clients = isLong ? 8 : 5;
    const options = { arrangement, seed, seconds, gateways: 3, workers, clients, slowness: leeway, faults };
    const result = await playRun(t, options);
    if (result === null) return;
    const { violations, operations, counts, auditEvents } = result;
    t.comment(
      `${operations} operations, ${auditEvents} audit events; faults: ${JSON.stringify(result.faults)}`,
    );
    t.comment(JSON.stringify(counts));
    for (const line of describeViolations(violations).split('\n')) t.comment(line);
    t.equal(violations.length, 0, `${violations.length} violations`);
    t.ok(operations > seconds * 10, 'there were enough operations');
    if (seconds < everyFaultSeconds) return;
    for (const [kind, times] of Object.entries(result.faults)) t.ok(times > 0, `${kind}: ${times} times`);
  });
}
