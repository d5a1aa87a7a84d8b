import t from 'tap';
import { judgeUpstream } from './judge-upstream.ts';

t.setTimeout(1_800_000);
t.test('net/http behind the gateway', (t) => judgeUpstream(t, 'net/http'));
