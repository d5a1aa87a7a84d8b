import t from 'tap';
import { judgeUpstream } from './judge-upstream.ts';

t.setTimeout(1_800_000);
t.test('gunicorn behind the gateway', (t) => judgeUpstream(t, 'gunicorn'));
