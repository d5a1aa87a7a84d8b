import { type Principal, requireScopes } from '../credentials/principal.ts';
import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Replies } from '../http/reply.ts';
import { assertDeclaredSize, readBody } from '../http/request-body.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { Awaitable } from '../stores/records.ts';
import type { Guard } from './endpoint.ts';
import { isExchangePath } from './provider-paths.ts';
import type { OwnMatch } from './routes.ts';

/** Answers an exchange on a path that is Postern's. Never rejects. */
export type AnswerOwn = (exchange: Exchange, match: OwnMatch) => Promise<void>;

/** Builds the way of an own request: method, declared body size, guard, body, answer; each refuses in that order. */
export function createAnswerOwn(options: {
  readonly authenticate: (head: RequestHead, otherSchemesPass: boolean) => Awaitable<Principal | null>;
  readonly replies: Replies;
  /** Largest request body, in bytes. */
  readonly maxBodyBytes: number;
}): AnswerOwn {
  const { authenticate, replies, maxBodyBytes } = options;

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
      if (error instanceof Refusal && error.code === 'invalid_token') return null;
      throw error;
    }
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
      assertDeclaredSize(exchange, maxBodyBytes);
      const principal = await passGuard(exchange.head, endpoint.guard);
      exchange.caller = principal;
      const body = await readBody(exchange, maxBodyBytes);
      replies.send(exchange, await endpoint.answer({ exchange, principal, id, body }));
    } catch (error) {
      // An unknown provider has no resource, and its clients read the same errors.
      replies.refuse(exchange, error, { oauth: resource?.oauth ?? isExchangePath(exchange.path) });
    }
  };
}
