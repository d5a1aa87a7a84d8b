import t from 'tap';
import { bounds, judge, type Measured } from '../../bench/bounds.ts';
import { summariseFootprint } from '../../bench/footprint.ts';
import { halfOf, summariseHalfLoad } from '../../bench/half-load.ts';
import { isSustained, summariseOffered } from '../../bench/offered.ts';
import { cpuCost, cpuRatio, median } from '../../bench/rows.ts';
import { renderDecisions, renderFootprint, renderOffered, renderSaturation } from '../../bench/tables.ts';
import { renderOutcome, renderVerdicts } from '../../bench/verdicts.ts';
import { nothingMeasured } from '../support/nothing-measured.ts';

function saturated(name: string, ...rounds: number[]) {
  return { name, requestsPerSecond: 1, p50Ms: 1, p99Ms: 1, cpu: cpuCost(rounds), peakMemoryMiB: 1 };
}

function offered(name: string, cpu: number, inTime = 1) {
  const sample = { cpuMicrosecondsPerRequest: cpu, p50Ms: 1, p99Ms: 2, inTime, lateP99Ms: 0 };
  return summariseOffered(name, 5000, [sample]);
}

function halfLoaded(name: string, p50Ms: number, p99Ms: number, fastestP99Ms?: number) {
  const fastest = fastestP99Ms === undefined ? undefined : { p50Ms: 0, p99Ms: fastestP99Ms };
  return summariseHalfLoad(name, 1000, [{ added: { p50Ms, p99Ms }, fastest }]);
}

function verdict(measured: Partial<Measured>, peer: string, of: string, against?: string) {
  const found = judge({ ...nothingMeasured, ...measured }).find(
    (each) => each.peer === peer && each.of === of && each.against === against,
  );
  if (found === undefined) throw new Error('no such verdict');
  return { figure: found.figure, passed: found.passed };
}

t.test('a median is the middle one, or the mean of the two in the middle', async (t) => {
  t.equal(median([3, 1, 2]), 2);
  t.equal(median([4, 1, 2, 3]), 2.5);
});

t.test("a ratio is the median of each round's own, not that of the medians", async (t) => {
  t.equal(cpuRatio(cpuCost([10, 100, 30]), cpuCost([10, 50, 10])), 2);
});

t.test('the bounds that are promised are judged', async (t) => {
  const stated = bounds.map(({ peer, of, against, atMost }) => `${peer} ${of} ${against} ${atMost}`);
  for (const bound of [
    'postern-key saturation http-proxy-3 0.38',
    'postern-key saturation nginx-key-map 2.3',
    'postern-key 5,000/s nginx-key-map 1.9',
    'postern-key 5,000/s envoy-api-key 1',
    'postern-bearer saturation http-proxy-3 0.42',
    'postern-bearer saturation nginx-key-map 2.6',
    'postern-bearer 5,000/s nginx-key-map 2.1',
    'postern-bearer 5,000/s envoy-api-key 1.1',
    'postern-key-two-workers saturation postern-key 1.25',
    'postern-key-hs256 CPU µs added postern-key 8',
    'postern-key-eddsa CPU µs added postern-key 50',
    'nginx-postern saturation nginx-auth-request 1.4',
    ...['postern-key', 'postern-bearer'].flatMap((peer) => [
      `${peer} p50 added undefined 0.3`,
      `${peer} p99 added nginx-key-map 3`,
    ]),
  ])
    t.ok(stated.includes(bound), bound);
  const plain = saturated('postern-key', 80, 100, 120);
  for (const [cost, passed] of [
    [7, true],
    [9, false],
  ] as const) {
    const signed = saturated('postern-key-hs256', 80 + cost, 100 + cost, 160);
    const found = verdict(
      { saturation: [plain, signed] },
      'postern-key-hs256',
      'CPU µs added',
      'postern-key',
    );
    t.strictSame(found, { figure: cost, passed }, 'the median of what each round says');
  }
});

t.test('a bound holds up to its figure, and not beyond', async (t) => {
  const rows = (cost: number) => [saturated('postern-key', cost), saturated('nginx-key-map', 10)];
  t.same(verdict({ saturation: rows(23) }, 'postern-key', 'saturation', 'nginx-key-map'), {
    figure: 2.3,
    passed: true,
  });
  t.match(verdict({ saturation: rows(24) }, 'postern-key', 'saturation', 'nginx-key-map'), { passed: false });
});

t.test(
  'a bound whose rows were not measured is not held, and one of another part is not judged',
  async (t) => {
    const saturation = [saturated('postern-key', 10)];
    t.same(verdict({ saturation }, 'postern-key', 'saturation', 'nginx-key-map'), {
      figure: undefined,
      passed: false,
    });
    t.same(judge(nothingMeasured), []);
  },
);

t.test('at an offered load, who could not take it counts as not measured', async (t) => {
  const envoy = (inTime: number) => [offered('postern-key', 90), offered('envoy-api-key', 100, inTime)];
  t.same(verdict({ offered: envoy(1) }, 'postern-key', '5,000/s', 'envoy-api-key'), {
    figure: 0.9,
    passed: true,
  });
  t.match(verdict({ offered: envoy(0.9) }, 'postern-key', '5,000/s', 'envoy-api-key'), { passed: false });
  t.equal(isSustained({ inTime: 0.98 }), true);
  t.equal(isSustained({ inTime: 0.97 }), false);
});

t.test('added latency is bounded in milliseconds at the median, and beside nginx at the tail', async (t) => {
  const halfLoad = [halfLoaded('postern-key', 0.31, 5, 2), halfLoaded('postern-bearer', 0.3, 7, 2)];
  t.match(verdict({ halfLoad }, 'postern-key', 'p50 added'), { figure: 0.31, passed: false });
  t.match(verdict({ halfLoad }, 'postern-bearer', 'p50 added'), { figure: 0.3, passed: true });
  t.match(verdict({ halfLoad }, 'postern-key', 'p99 added', 'nginx-key-map'), { figure: 2.5, passed: true });
  t.match(verdict({ halfLoad }, 'postern-bearer', 'p99 added', 'nginx-key-map'), {
    figure: 3.5,
    passed: false,
  });
});

t.test('a decision is bounded in microseconds', async (t) => {
  const decisions = [saturated('decisions-nginx', 60), saturated('decisions-envoy-grpc', 61)];
  t.match(verdict({ decisions }, 'decisions-nginx', 'decision'), { figure: 60, passed: true });
  t.match(verdict({ decisions }, 'decisions-envoy-grpc', 'decision'), { figure: 61, passed: false });
  t.match(verdict({ decisions }, 'decisions-envoy', 'decision'), { figure: undefined, passed: false });
  const table = renderDecisions([saturated('key-service', 20), saturated('decisions-nginx', 30)]);
  t.match(table, /^\| decisions-nginx +\| +1 \| +30\.0 \| +30\.0-30\.0 \| +1\.50 \|$/m);
});

t.test('half load is within what the generator can offer', async (t) => {
  t.equal(halfOf(12_001), 6001);
  t.equal(halfOf(40_000), 10_000);
  t.equal(halfOf(0), 1);
});

t.test('a tail below that of the upstream itself divides nothing by zero', async (t) => {
  const halfLoad = [halfLoaded('postern-key', 0.1, 0.02, -1), halfLoaded('postern-bearer', 0.1, 5)];
  t.match(verdict({ halfLoad }, 'postern-key', 'p99 added', 'nginx-key-map'), { figure: 2, passed: true });
  t.match(verdict({ halfLoad }, 'postern-bearer', 'p99 added', 'nginx-key-map'), { passed: false });
});

t.test('verdicts say what is not held', async (t) => {
  const lines = renderVerdicts([
    { peer: 'a', of: 'saturation', against: 'b', atMost: 0.36, figure: 0.37, passed: false },
    { peer: 'a', of: 'p50 added', against: undefined, atMost: 0.3, figure: 0.1, passed: true },
    { peer: 'a', of: '5,000/s', against: 'b', atMost: 1, figure: undefined, passed: false },
    { peer: 'a', of: 'decision', against: undefined, atMost: 60, figure: 25.7, passed: true },
  ]);
  t.same(lines.split('\n'), [
    '- a, saturation: CPU ÷ b at most 0.36: 0.37, NOT HELD',
    '- a, half load: p50 added at most 0.30 ms: 0.10, held',
    '- a, 5,000/s: CPU ÷ b at most 1.00: not measured, NOT HELD',
    '- a, decision: CPU at most 60.00 µs: 25.70, held',
  ]);
});

t.test('a run says which bounds are not held, and which rows failed', async (t) => {
  const verdict = {
    peer: 'a',
    of: 'saturation',
    against: 'b',
    atMost: 0.3,
    figure: 0.4,
    passed: false,
  } as const;
  const kept = { ...verdict, peer: 'c', passed: true };
  const line = '- a, saturation: CPU ÷ b at most 0.30: 0.40, NOT HELD';
  t.equal(renderOutcome([verdict, kept], [], 12), `Bounds that are NOT HELD: 1 of 2.\n\n${line}`);
  t.match(renderOutcome([verdict], ['nginx-key-map'], 12), /^Rows that FAILED: nginx-key-map\.$/m);
  t.equal(renderOutcome([kept], [], 12), 'Every bound is held: 1.');
  t.match(renderOutcome([kept], [], 5), /^Too few rounds to judge by: 5 of 12\.$/m);
});

t.test('a peer that is missing is a row, and one that is overloaded says what it takes', async (t) => {
  const saturation = renderSaturation([saturated('http-proxy-3', 100)], ['envoy-api-key']).split('\n');
  t.match(saturation[2], /^\| http-proxy-3 .* 1\.00 \|$/);
  t.match(saturation[3], /^\| envoy-api-key \| not installed \| +— \|/);
  const table = renderOffered([offered('nginx-key-map', 50), offered('slow', 800, 0.25)], []);
  t.match(table, /^\| nginx-key-map .* 50\.0 \| +1\.00 \| +1\.00 \| +2\.00 \|$/m);
  t.match(table, /^\| slow .* takes 1250\/s \| +— \| +— \| +— \|$/m);
});

t.test('memory is told with the connections that were kept', async (t) => {
  const memory = (held: number) => ({ withoutConnectionsMiB: 10, withConnectionsMiB: 20, held });
  const row = summariseFootprint('a', [
    { startMs: 100, memory: memory(10_000) },
    { startMs: 300, memory: memory(5120) },
    { startMs: 200, memory: memory(10_000) },
  ]);
  t.same(row, { name: 'a', startMs: 200, memory: memory(5120) });
  t.match(renderFootprint([row], []), /^\| a .* 200 \| +10 \| +20 \| +2\.0 \| 5120 \|$/m);
});
