import t from 'tap';
import { judgeUpstream } from './judge-upstream.ts';

t.setTimeout(1_800_000);
t.test('gunicorn, any header behind the gateway', (t) => judgeUpstream(t, 'gunicorn, any header'));
