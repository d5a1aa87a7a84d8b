import t from 'tap';
import { askingProxies } from './asking-proxies.ts';
import { judgeProxy } from './judge-proxy.ts';
import { judgeWhole } from './judge-whole.ts';
import { startBench } from './proxy-bench.ts';

t.setTimeout(600_000);
t.test('haproxy asks, configured by what is printed for it', (t) => judgeProxy(t, 'haproxy'));

t.test('haproxy with as little room as it has by default refuses what does not fit', async (t) => {
  const edit = (text: string) => text.replaceAll(/^ +tune\.(?:bufsize|maxrewrite) .*$/gm, '');
  const bench = await startBench(t, 'haproxy', askingProxies.haproxy, { edit });
  if (bench === undefined) return;
  await judgeWhole(t, bench);
  t.ok(
    bench.logLines().some((line) => line.status === 200 && line.path === '/api/store/whole'),
    'some of it fits',
  );
});
