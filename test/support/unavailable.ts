import type { Test } from 'tap';
import type { ApiAnswer } from './api-client.ts';

/** Judges that an answer says that a store is away, and when to come again, and takes nobody's cookie. */
export function judgeUnavailable(t: Test, what: string, answer: ApiAnswer): void {
  t.match(
    answer,
    { status: 503, headers: { 'retry-after': /^[1-9]\d*$/ }, json: { code: 'store_unavailable' } },
    what,
  );
  t.strictSame(answer.setCookies, [], `${what}: no cookie is cleared`);
}
