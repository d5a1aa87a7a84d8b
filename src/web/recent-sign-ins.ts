import type { RefusedRequest } from '../http/exchange.ts';
import { keptText } from '../http1/message/copied-text.ts';
import { RecentCache } from '../stores/recent-cache.ts';

/** Browsers that have just signed in, known by address and user agent, because they may have kept no cookie. */
export interface RecentSignIns {
  note(request: Browser): void;
  forget(request: Browser): void;
  has(request: Browser): boolean;
}

type Browser = Pick<RefusedRequest, 'address' | 'head'>;

/** Maximum time between a sign-in and the request for its destination, ms. */
const forMs = 10_000;
const most = 1_000;
const userAgentLength = 256;

/** Creates the memory of recent sign-ins. `now`: the clock, epoch ms. */
export function createRecentSignIns(now: () => number): RecentSignIns {
  const signedIn = new RecentCache<number>(most);
  const keyOf = ({ address, head }: Browser) =>
    keptText(`${address} ${head.userAgent.slice(0, userAgentLength)}`);
  return {
    note: (request) => void signedIn.set(keyOf(request), now()),
    forget: (request) => void signedIn.delete(keyOf(request)),
    has(request) {
      const at = signedIn.get(keyOf(request));
      return at !== undefined && now() - at < forMs;
    },
  };
}
