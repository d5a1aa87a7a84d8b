import t from 'tap';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { judgeHosts, ofOneHost } from './judge-hosts.ts';
import { judgeProxy } from './judge-proxy.ts';

t.setTimeout(600_000);
t.test('envoy asks about several hosts, configured by what is printed for it', (t) => judgeHosts(t, 'envoy'));

t.test('all that holds without hosts holds with them', { skip: isLong ? false : 'long size' }, (t) =>
  judgeProxy(t, 'envoy', ofOneHost),
);
