import t from 'tap';
import { judgeUpstream } from './judge-upstream.ts';

t.setTimeout(1_800_000);
t.test('apache behind the gateway', (t) => judgeUpstream(t, 'apache'));
