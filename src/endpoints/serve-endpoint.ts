import { type Principal, requireScopes } from '../credentials/principal.ts';
import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Replies } from '../http/reply.ts';
import { assertDeclaredSize, WholeBody } from '../http/request-body.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { Awaitable } from '../stores/records.ts';
import type { Endpoint, Guard } from './endpoint.ts';
import { createOpenRequest, type OpenRequests } from './own-request.ts';
import { isExchangePath } from './provider-paths.ts';
import type { OwnMatch } from './routes.ts';

/** Answers an exchange on a path that is Postern's. Never rejects. */
export type ServeEndpoint = (exchange: Exchange, match: OwnMatch) => Promise<void>;

/**
 * Builds the way of an own request: method, declared body size, guard, body, answer; each refuses in that order. What a
 * credential may do is judged when the request is complete: after a body that was waited for the guard comes again, and
 * what was read is given to nobody whose credential has ended meanwhile.
 */
export function createServeEndpoint(options: {
  readonly authenticate: (head: RequestHead, otherSchemesPass: boolean) => Awaitable<Principal | null>;
  /** What the holder of a credential holds now; null once it is no good. */
  readonly heldNow: (principal: Principal) => Promise<ReadonlySet<string> | null>;
  /** Told of requests whose body is on its way. */
  readonly openRequests: OpenRequests;
  readonly replies: Replies;
  /** Bounds of a request body. */
  readonly body: { readonly maxBytes: number; readonly timeoutMs: number };
}): ServeEndpoint {
  const { authenticate, heldNow, openRequests, replies } = options;

  async function passGuard(head: RequestHead, guard: Guard): Promise<Principal | null> {
    if (guard === 'open') return null;
    if (guard === 'sign_out') return sessionIfGood(head);
    const principal = await authenticate(head, false);
    if (principal === null) throw new Refusal('not_authenticated');
    requireScopes(principal, guard.scopes);
    return principal;
  }

  /** For sign-out, which the cookie alone can ask for too: a bad token counts as none. */
  async function sessionIfGood(head: RequestHead): Promise<Principal | null> {
    try {
      const principal = await authenticate(head, true);
      if (principal?.kind === 'api_key') throw new Refusal('session_required');
      return principal;
    } catch (error) {
      if (error instanceof Refusal && isBadBearer(error, head)) return null;
      throw error;
    }
  }

  /** Passes the guard, reads the body, and passes the guard again when the body had to be waited for. */
  async function complete(
    exchange: Exchange,
    guard: Guard,
  ): Promise<{ readonly principal: Principal | null; readonly body: Buffer }> {
    const principal = await passGuard(exchange.head, guard);
    exchange.caller = principal;
    // Its client went away while the credential was looked at, and what was still to come of the body never will.
    if (exchange.head.hasBody && exchange.isGone) throw new Refusal('bad_request');
    const body = new WholeBody(exchange, options.body);
    const whole = body.read();
    if (!(whole instanceof Promise)) return { principal, body: whole };
    const again = () => passGuard(exchange.head, guard);
    if (principal === null || typeof guard === 'string')
      return { body: await whole, principal: await again() };
    const request = createOpenRequest(principal, guard.scopes, body, again);
    openRequests.add(request);
    const remove = () => openRequests.remove(request);
    exchange.onClose = remove;
    return { body: await whole.finally(remove), principal: await again() };
  }

  /** A read is for who may read when it is answered; a change has been made by then, and looked at what counts for it. */
  async function mayStillRead({ method, guard }: Endpoint, principal: Principal): Promise<boolean> {
    if (method !== 'GET' || typeof guard === 'string') return true;
    const held = await heldNow(principal);
    return held !== null && guard.scopes.every((scope) => held.has(scope));
  }

  return async (exchange, { resource, id }) => {
    try {
      if (resource === null) throw new Refusal('not_found');
      exchange.route = resource.label;
      const allow = resource.methods;
      if (exchange.method === 'OPTIONS') {
        replies.send(exchange, { status: 204, headers: ['Allow', allow.join(', ')] });
        return;
      }
      const endpoint = resource.endpoints.get(exchange.method);
      if (endpoint === undefined) throw new Refusal('method_not_allowed', { allow });
      assertDeclaredSize(exchange, options.body.maxBytes);
      const { principal, body } = await complete(exchange, endpoint.guard);
      exchange.caller = principal;
      const recheck = () => passGuard(exchange.head, endpoint.guard);
      const reply = await endpoint.handle({ exchange, principal, id, body, recheck });
      if (principal !== null && !(await mayStillRead(endpoint, principal))) await recheck();
      replies.send(exchange, reply);
    } catch (error) {
      // An unknown provider has no resource, and its clients read the same errors.
      replies.refuse(exchange, error, { oauth: resource?.oauth ?? isExchangePath(exchange.path) });
    }
  };
}

/** With `api_keys.bearer` what stands behind `Bearer` may have been judged as a key. */
function isBadBearer({ code }: Refusal, { apiKeyCount }: RequestHead): boolean {
  return code === 'invalid_token' || (code === 'invalid_api_key' && apiKeyCount === 0);
}
