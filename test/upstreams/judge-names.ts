import type { Test } from 'tap';
import { exactModes } from '../../src/config/sections/forward-auth.ts';
import { requestByHttp2 } from '../support/clients/http2-request.ts';
import { readCorpus } from '../support/corpora/corpus.ts';
import type { AskingProxy } from './asking-proxies.ts';
import type { ProxyBench } from './proxy-bench.ts';

/**
 * Every spelling that a route may pass, where the mode allows that: what is allowed reaches the service byte for byte, and nothing
 * reaches it that was not judged in that spelling. A byte that no target may have, a proxy may encode before it asks. (There are no
 * stricter routes here: what is 404 behind them is allowed.)
 */
export async function judgeNames(t: Test, bench: ProxyBench, { mode, speaksHttp2 }: AskingProxy) {
  const { send, upstream } = bench;
  const isExact = exactModes.has(mode);
  const linesBefore = bench.logLines().length;
  const rows = readCorpus<{ path: string; expect: 'forwarded' | number }>('passed-paths');
  const wrong: string[] = [];
  const seen = [];
  for (const { path, expect } of rows) {
    const target = `/api/names${path}`;
    const status = await send(`GET ${target} HTTP/1.1`);
    if (speaksHttp2 && expect !== 400) await requestByHttp2(bench.proxyPort, target);
    const these = upstream.seen.splice(0);
    seen.push(...these);
    const asSent = these.filter((each) => each.target === target).length;
    const expected = isExact && expect !== 400 ? (speaksHttp2 ? 2 : 1) : 0;
    if (asSent !== expected) wrong.push(`${target} (${status}) arrives ${asSent} times`);
  }
  const judged = new Map(
    bench
      .logLines()
      .slice(linesBefore)
      .filter((line) => 'forward_auth' in line && line.status === 200)
      .map((line) => [line.request_id, line.path]),
  );
  for (const { target, values } of seen)
    if (judged.get(values('x-request-id')[0]) !== target.split('?', 1)[0])
      wrong.push(`${target} was not judged`);
  t.strictSame(wrong, []);
  if (isExact) t.ok(seen.length > 20, `${seen.length} were forwarded`);
}
