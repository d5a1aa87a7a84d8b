import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import t from 'tap';

t.setTimeout(180_000);

const run = promisify(execFile);

t.test('the benchmark measures a small run of what npm brings, and leaves the results alone', async (t) => {
  const results = () => readFileSync('bench/RESULTS.md', 'utf8');
  const before = results();
  const peers = ['--only', 'http-proxy-3,fastify-http-proxy'];
  const size = ['--parts', 'saturation,start', '--rounds', '1', '--seconds', '1'];
  const { stdout } = await run(process.execPath, ['bench/run.ts', ...peers, ...size]);
  for (const row of ['http-proxy-3', 'fastify-http-proxy']) {
    t.match(
      stdout,
      new RegExp(`^\\| ${row} +\\| +\\d+ \\| +[\\d.]+ \\| +[\\d.]+ \\| +[\\d.]+ \\|`, 'm'),
      row,
    );
    t.match(stdout, new RegExp(`^\\| ${row} +\\| +\\d+ \\| +— \\|`, 'm'), `${row} starts`);
  }
  t.notMatch(stdout, 'FAILED');
  t.equal(results(), before);
});

t.test('who decides for other proxies is asked as each of them asks', async (t) => {
  const size = ['--parts', 'decisions', '--rounds', '1', '--seconds', '1', '--no-check'];
  const { stdout } = await run(process.execPath, ['bench/run.ts', ...size]);
  for (const row of ['key-service', 'decisions-nginx', 'decisions-envoy', 'decisions-envoy-grpc'])
    t.match(stdout, new RegExp(`^\\| ${row} +\\| +\\d+ \\| +[\\d.]+ \\|`, 'm'), row);
  t.notMatch(stdout, 'FAILED');
});

t.test('what it costs to have a row at all is measured in seconds, if it is to be quick', async (t) => {
  const size = ['--parts', 'upkeep', '--only', 'http-proxy-3', '--quick', '--rounds', '1', '--no-check'];
  const { stdout } = await run(process.execPath, ['bench/run.ts', ...size]);
  t.match(stdout, /^\| http-proxy-3 +\| +\d+ \| +\d+ \| +[\d.]+ \|/m);
  t.notMatch(stdout, 'FAILED');
});

t.test('a part that is not there is refused', async (t) => {
  await t.rejects(run(process.execPath, ['bench/run.ts', '--parts', 'everything']), { code: 2 });
});
