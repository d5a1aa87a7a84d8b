import type { Test } from 'tap';
import type { Forwarding } from '../gateway/forwarding.ts';
import { exchangeRaw } from './raw-client.ts';

/** Sends the bytes; expects one refusal, then the end of the connection, and that the upstream saw nothing. */
export async function assertRefused(
  t: Test,
  gateway: Forwarding,
  bytes: string,
  status: number,
): Promise<void> {
  const before = gateway.upstream.seen.length;
  const { responses, closed } = await exchangeRaw(gateway.port, bytes);
  t.same(
    responses.map((response) => response.status),
    [status],
  );
  const [response] = responses;
  t.match(response?.json, { detail: String, code: String, request_id: String });
  t.same(response?.values('x-request-id'), [response?.json.request_id]);
  t.same(response?.values('connection'), ['close']);
  t.same(response?.values('cache-control'), ['no-store']);
  t.equal(closed, 'ended', 'the response is not lost to a reset');
  t.equal(gateway.upstream.seen.length, before, 'the upstream saw nothing');
  t.ok(await gateway.stillServes());
}
