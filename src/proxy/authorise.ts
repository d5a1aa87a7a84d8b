import { type Principal, requireScopes } from '../credentials/principal.ts';
import { Refusal } from '../errors.ts';
import type { Route } from './route-table.ts';

/**
 * Checks that the caller may use the route with this method; `principal` is null without a credential, which only public routes
 * allow. Throws `not_authenticated`, `method_not_allowed`, `session_required`, `api_key_required`, `insufficient_scope`.
 */
export function authorise(route: Route, method: string, principal: Principal | null): void {
  if (route.isPublic) return;
  if (principal === null) throw new Refusal('not_authenticated');
  if (principal.kind === 'session' ? !route.acceptsSession : !route.acceptsApiKey)
    throw new Refusal(principal.kind === 'session' ? 'api_key_required' : 'session_required');
  requireScopes(principal, route.scopesFor(method));
}
