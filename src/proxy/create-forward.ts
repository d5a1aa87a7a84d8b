import { findRemoved } from '../http/removed-headers.ts';
import type { RequestHead } from '../http/request-head.ts';
import { ForwardedRequest } from './forward.ts';
import type { Forward, ForwardOptions } from './forward-options.ts';
import { HeldBodies } from './forwarded-body.ts';

/** Creates the function that forwards admitted requests, the last step of the request path. */
export function createForward(options: ForwardOptions): Forward {
  const heldBodies = new HeldBodies();
  const leavingCors: ForwardOptions = { ...options, ownsCors: false, corsHeaders: () => [] };
  return (exchange, route, principal, preflight = false) => {
    const { head } = exchange;
    // Without a caller, an `Authorization` that passes is there with an `X-API-Key` that passes, too, or with none.
    const isExplained = principal !== null || exchange.passesAuthorization;
    if (options.listsRemoved || mayLose(head, isExplained))
      exchange.removed = findRemoved(head, route.passedMeaning, isExplained);
    const rules = route.leavesCors ? leavingCors : options;
    new ForwardedRequest(exchange, route, principal, preflight, rules).start(heldBodies);
  };
}

/** True if headers of the kinds that the log counts may be removed from the request. */
function mayLose(head: RequestHead, isExplained: boolean): boolean {
  return head.hasDroppable || (!isExplained && head.authorizationCount + head.apiKeyCount > 0);
}
