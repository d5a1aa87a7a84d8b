import type { Test } from 'tap';
import type { ApiResponse } from '../clients/api-client.ts';

/** Judges that a response says that a store is away, and when to come again, and takes nobody's cookie. */
export function judgeUnavailable(t: Test, what: string, response: ApiResponse): void {
  t.match(
    response,
    { status: 503, headers: { 'retry-after': /^[1-9]\d*$/ }, json: { code: 'store_unavailable' } },
    what,
  );
  t.strictSame(response.setCookies, [], `${what}: no cookie is cleared`);
}
