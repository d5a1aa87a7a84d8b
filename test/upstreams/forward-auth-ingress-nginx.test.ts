import t from 'tap';
import { judgeProxy } from './judge-proxy.ts';

t.setTimeout(600_000);
t.test('ingress-nginx asks, by what its controller makes of the printed annotations', (t) =>
  judgeProxy(t, 'ingress-nginx'),
);
