import type { RefusedRequest } from './exchange.ts';
import { isNavigation } from './navigation.ts';

/** True if a request has an `Authorization` or `X-API-Key` that isn't the application's own. */
export function presentsCredential(
  request: Pick<RefusedRequest, 'head' | 'passesAuthorization' | 'passesApiKey'>,
): boolean {
  const { head, passesAuthorization, passesApiKey } = request;
  return (head.authorizationCount > 0 && !passesAuthorization) || (head.apiKeyCount > 0 && !passesApiKey);
}

/**
 * True if a navigation on a browser route is 401 because of its `Authorization` or `X-API-Key`, which no page sets: the browser
 * itself sends a password, as it does for the whole origin once a person has given it one. The web cookie doesn't count beside
 * it, so a redirect to the sign-in page would come back here, without end.
 */
export function isBesideSignIn(request: RefusedRequest, status: number): boolean {
  return (
    status === 401 && request.isOnBrowserRoute && presentsCredential(request) && isNavigation(request.head)
  );
}
