import t from 'tap';
import { judgeUpstream } from './judge-upstream.ts';

t.setTimeout(1_800_000);
t.test('uvicorn, h11 behind the gateway', (t) => judgeUpstream(t, 'uvicorn, h11'));
