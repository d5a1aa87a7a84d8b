import type { Test } from 'tap';
import type { Forwarding } from './forwarding.ts';
import { exchangeRaw } from './raw-client.ts';

/** Sends it all, expects one refusal and the end of the connection, and that the upstream saw none of it. */
export async function assertRefused(
  t: Test,
  gateway: Forwarding,
  bytes: string,
  status: number,
): Promise<void> {
  const before = gateway.upstream.seen.length;
  const { answers, closed } = await exchangeRaw(gateway.port, bytes);
  t.same(
    answers.map((answer) => answer.status),
    [status],
  );
  const [answer] = answers;
  t.match(answer?.json, { detail: String, code: String, request_id: String });
  t.same(answer?.values('x-request-id'), [answer?.json.request_id]);
  t.same(answer?.values('connection'), ['close']);
  t.same(answer?.values('cache-control'), ['no-store']);
  t.equal(closed, 'ended', 'the answer is not lost to a reset');
  t.equal(gateway.upstream.seen.length, before, 'the upstream saw nothing');
  t.ok(await gateway.stillServes());
}
