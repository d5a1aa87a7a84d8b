import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { digestMarkers, digests, figure, replaceDigest } from '../../bench/digest.ts';

const root = join(import.meta.dirname, '../..');
const results = readFileSync(join(root, 'bench/RESULTS.md'), 'utf8');

for (const { file, render } of digests)
  t.test(`${file} has the figures of the last benchmark; UPDATE=1 rewrites it`, async (t) => {
    const path = join(root, file);
    const text = readFileSync(path, 'utf8');
    const fresh = replaceDigest(text, render(results));
    if (process.env.UPDATE) writeFileSync(path, fresh);
    else t.equal(text, fresh);
    const lines = fresh.split('\n').filter((line) => /\| +— +\|/.test(line));
    t.strictSame(
      lines.filter((line) => !/takes \d+\/s/.test(line)),
      [],
      'only a row that does not take the load has no latency at it',
    );
  });

t.test('the README says where Postern loses and wins, as measured', async (t) => {
  const value = (name: string, column: Parameters<typeof figure>[2]) =>
    Number(figure(results, name, column).replace(',', ''));
  const others = ['nginx-key-map', 'envoy-api-key', 'http-proxy-3', 'oauth2-proxy-jwt', 'oathkeeper-jwt'];
  for (const name of others) t.ok(value('postern-key', 'start ms') > value(name, 'start ms'), name);
  const memory = (name: string) => value(name, 'MiB of its own after load');
  for (const name of ['nginx-key-map', 'envoy-api-key', 'oauth2-proxy-jwt', 'oathkeeper-jwt'])
    t.ok(memory('postern-key') > memory(name), `memory: ${name}`);
  const cpu = (name: string) => {
    const takesLoad = !figure(results, name, 'CPU µs/request at 2,000/s').startsWith('takes');
    const column = takesLoad ? 'CPU µs/request at 2,000/s' : 'CPU µs/request at saturation';
    return value(name, column) / value('postern-key', column);
  };
  t.ok(Math.abs(cpu('nginx-key-map') - 0.5) < 0.12, 'about half');
  t.ok(cpu('http-proxy-3') > 1);
  t.ok(cpu('oauth2-proxy-jwt') > 2 && cpu('oathkeeper-jwt') > 2);
});

t.test('a figure comes from its own table and column', async (t) => {
  const text = `
| row         | requests/s | CPU µs/request |
| ----------- | ---------: | -------------: |
| postern-key |      28898 |           31.8 |

| row         | CPU µs at 2000/s | p50 ms at 2000/s | p99 ms | CPU µs at 5000/s | p50 ms at 5000/s | p99 ms |
| ----------- | ---------------: | ---------------: | -----: | ---------------: | ---------------: | -----: |
| postern-key |             98.8 |             0.18 |   0.89 |       takes 10/s |                — |   2.00 |

| row     | start ms | private MiB loaded, then idle |
| ------- | -------: | ----------------------------: |
| postern |      195 |                          44.9 |
`;
  t.equal(figure(text, 'postern-key', 'requests/s at most'), '28,898');
  t.equal(figure(text, 'postern-key', 'CPU µs/request at 2,000/s'), '99');
  t.equal(figure(text, 'postern-key', 'p99 ms there'), '0.89');
  t.equal(figure(text, 'postern-key', 'CPU µs/request at 5,000/s'), 'takes 10/s');
  t.equal(figure(text, 'postern-key', 'start ms'), '195');
  t.equal(figure(text, 'postern-key', 'KiB a connection'), '—');
  t.equal(figure(text, 'nginx-key-map', 'start ms'), '—');
});

t.test('the figures go between the markers of a document', async (t) => {
  const text = `before\n${digestMarkers.begin}\nold\n${digestMarkers.end}\nafter\n`;
  t.equal(replaceDigest(text, 'new'), `before\n${digestMarkers.begin}\nnew\n${digestMarkers.end}\nafter\n`);
  t.throws(() => replaceDigest('none', ''), /no markers/);
});
