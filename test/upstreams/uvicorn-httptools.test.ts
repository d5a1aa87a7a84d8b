import t from 'tap';
import { judgeUpstream } from './judge-upstream.ts';

t.setTimeout(1_800_000);
t.test('uvicorn, httptools behind the gateway', (t) => judgeUpstream(t, 'uvicorn, httptools'));
