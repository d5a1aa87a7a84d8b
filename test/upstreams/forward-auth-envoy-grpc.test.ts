import t from 'tap';
import { judgeProxy } from './judge-proxy.ts';

t.setTimeout(600_000);
t.test('envoy-grpc asks, configured by what is printed for it', (t) => judgeProxy(t, 'envoy-grpc'));
