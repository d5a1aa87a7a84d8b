import t from 'tap';
import { judgeProxy } from './judge-proxy.ts';

t.setTimeout(600_000);
t.test('traefik asks, configured by what is printed for it', (t) => judgeProxy(t, 'traefik'));
