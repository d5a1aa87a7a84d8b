import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { MetricsRegistry } from '../../src/metrics/registry.ts';
import { readDescriptorLimit } from '../../src/runtime/descriptor-limit.ts';
import { countOpenDescriptors } from '../../src/runtime/descriptors.ts';
import { isOutOfDescriptors, RefusedConnections } from '../../src/runtime/refused-connections.ts';

function start() {
  const registry = new MetricsRegistry();
  const lines: unknown[] = [];
  let now = 5_000;
  const log = { warn: (message: string, fields?: object) => lines.push({ message, ...fields }) };
  const refused = new RefusedConnections(registry, log, () => now);
  const pass = (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      now += 1_000;
      refused.check();
    }
  };
  return { registry, lines, refused, pass };
}

const message = 'client connections refused';

t.test('the first refusals have a line within a second, further ones one a minute', async (t) => {
  const { registry, lines, refused, pass } = start();
  pass(5);
  t.strictSame(lines.splice(0), []);
  for (let i = 0; i < 3; i++) refused.count('limit');
  refused.count('address');
  pass(1);
  t.strictSame(lines.splice(0), [{ message, count: 4, reasons: { connection_limit: 3, address_limit: 1 } }]);
  for (let i = 0; i < 59; i++) {
    refused.count('descriptors');
    pass(1);
  }
  t.strictSame(lines, []);
  pass(1);
  t.strictSame(lines.splice(0), [{ message, count: 59, reasons: { descriptor_limit: 59 } }]);
  pass(600);
  t.strictSame(lines, [], 'nothing is said of nothing');
  refused.count('limit');
  refused.flush();
  t.strictSame(
    lines.splice(0),
    [{ message, count: 1, reasons: { connection_limit: 1 } }],
    'a stop writes the rest',
  );

  const text = await registry.text();
  t.match(text, 'postern_connections_refused_total{reason="limit"} 4');
  t.match(text, 'postern_connections_refused_total{reason="descriptors"} 59');
  t.match(text, 'postern_connections_refused_total{reason="address"} 1');
});

t.test('the limit and what is open are this process’s', async (t) => {
  const limit = Number(spawnSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).stdout);
  t.equal(readDescriptorLimit(), limit);
  t.ok(countOpenDescriptors() >= 3);
  t.equal(isOutOfDescriptors(), false);
});

t.test('seconds without a free descriptor are counted, and told', async (t) => {
  const folder = join(import.meta.dirname, '../../src');
  const script = `
    import { openSync, closeSync } from 'node:fs';
    import { RefusedConnections } from '${folder}/runtime/refused-connections.ts';
    import { MetricsRegistry } from '${folder}/metrics/registry.ts';
    const registry = new MetricsRegistry();
    const lines = [];
    const refused = new RefusedConnections(registry, { warn: (...line) => lines.push(line) }, () => 0);
    const open = [];
    try { for (;;) open.push(openSync('/dev/null')); } catch {}
    refused.check();
    refused.check();
    for (const descriptor of open) closeSync(descriptor);
    refused.check();
    refused.flush();
    const [, seconds] = /^postern_descriptors_exhausted_seconds_total (\\d+)$/m.exec(await registry.text());
    console.log(JSON.stringify({ seconds, lines }));
  `;
  const { stdout, stderr } = spawnSync(
    'env',
    [
      '-u',
      'NODE_OPTIONS',
      'sh',
      '-c',
      'ulimit -n 64 && exec "$@"',
      'sh',
      process.execPath,
      '--input-type=module',
      '-e',
      script,
    ],
    { encoding: 'utf8' },
  );
  t.equal(stderr, '');
  t.strictSame(JSON.parse(stdout), {
    seconds: '2',
    lines: [
      ['ran out of file descriptors: new connections were closed unanswered', { exhausted_seconds: 1 }],
      ['ran out of file descriptors: new connections were closed unanswered', { exhausted_seconds: 1 }],
    ],
  });
});
