import { type Principal, requireScopes } from '../credentials/principal.ts';
import { Refusal } from '../errors.ts';
import { isBasic } from '../http/basic-credentials.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Replies, Reply } from '../http/reply.ts';
import { assertDeclaredSize, WholeBody } from '../http/request-body.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { AnyEndpoint, CallerOf, Endpoint, ScopeGuard } from './endpoint.ts';
import type { OwnMatch } from './routes.ts';

/** Responds to an exchange on one of Postern's own paths. Never rejects. */
export type ServeEndpoint = (exchange: Exchange, match: OwnMatch) => Promise<void>;

/** Identifies the caller by the request's credential, or null; `otherSchemesPass` ignores other schemes of `Authorization`. */
type Identify = (exchange: Exchange, otherSchemesPass: boolean) => Awaitable<Principal | null>;

/** Request to an own endpoint whose body is still arriving. It is ended if the credential that it was sent with ends. */
interface OpenRequest {
  readonly neededScopes: readonly string[];
  /** Index in the registry, which alone sets it; -1: not in the registry. */
  index: number;
  end(): void;
}

/** Registry of requests to own endpoints whose bodies are arriving. */
export interface OpenRequests {
  add(principal: Principal, request: OpenRequest): void;
  /** Removes a request; does nothing if it is absent. */
  remove(request: OpenRequest): void;
}

/** Dependencies of {@link createServeEndpoint}. */
export interface ServeEndpointOptions {
  readonly authenticate: Identify;
  /** Scopes that a caller holds now; null once the credential has ended. */
  readonly heldNow: (principal: Principal) => Promise<ReadonlySet<string> | null>;
  /** Registry of requests whose body is still arriving. */
  readonly openRequests: OpenRequests;
  /** True for a path whose refusals have OAuth's fields although nothing may be there. */
  readonly isProviderOAuthPath: (path: string) => boolean;
  readonly replies: Replies;
  /** Bounds of a request body. */
  readonly body: { readonly maxBytes: number; readonly timeoutMs: number };
}

/**
 * Builds the function that serves a request to an own endpoint, in steps: method, declared body size, guard, body, endpoint. Any
 * step may refuse. The credential must have its rights when the request is complete: after waiting for a body the guard runs
 * again, and the result of a read is withheld if the credential has lost its rights in the meantime.
 */
export function createServeEndpoint(options: ServeEndpointOptions): ServeEndpoint {
  const { isProviderOAuthPath, replies, body } = options;
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
      assertDeclaredSize(exchange, body.maxBytes);
      replies.send(exchange, await new OwnCall(exchange, id, options).respond(endpoint));
    } catch (error) {
      // An unknown provider has no resource, but its clients expect OAuth's fields in errors, too.
      replies.refuse(exchange, error, { oauth: resource?.oauth ?? isProviderOAuthPath(exchange.path) });
    }
  };
}

/** Request to an own endpoint, from its guard to its reply. */
class OwnCall {
  readonly #exchange: Exchange;
  readonly #id: string;
  readonly #options: ServeEndpointOptions;

  constructor(exchange: Exchange, id: string, options: ServeEndpointOptions) {
    this.#exchange = exchange;
    this.#id = id;
    this.#options = options;
  }

  respond(endpoint: AnyEndpoint): Promise<Reply> {
    const exchange = this.#exchange;
    if (endpoint.guard === 'open')
      return this.#unguarded<'open'>(endpoint as Endpoint<'open'>, async () => null);
    if (endpoint.guard === 'sign_out')
      return this.#unguarded<'sign_out'>(endpoint as Endpoint<'sign_out'>, () =>
        sessionIfValid(this.#identify, exchange),
      );
    if (endpoint.guard === 'session')
      return this.#guarded<'session'>(endpoint as Endpoint<'session'>, [], () =>
        requireSession(this.#identify, exchange),
      );
    const { scopes } = endpoint.guard;
    return this.#guarded<ScopeGuard>(endpoint as Endpoint, scopes, () =>
      requireCaller(this.#identify, exchange, scopes),
    );
  }

  /** Records the caller for the log, also when the guard refuses the request. */
  readonly #identify: Identify = async (exchange, otherSchemesPass) => {
    const principal = await this.#options.authenticate(exchange, otherSchemesPass);
    if (principal !== null) exchange.caller = principal;
    return principal;
  };

  async #unguarded<G extends 'open' | 'sign_out'>(
    endpoint: Pick<Endpoint<G>, 'handle'>,
    recheck: () => Promise<CallerOf<G>>,
  ): Promise<Reply> {
    return endpoint.handle({ ...(await this.#admit(recheck)), recheck });
  }

  async #guarded<G extends 'session' | ScopeGuard>(
    endpoint: Pick<Endpoint<G>, 'method' | 'handle'>,
    scopes: readonly string[],
    recheck: () => Promise<CallerOf<G>>,
  ): Promise<Reply> {
    const call = { ...(await this.#admit(recheck, scopes)), recheck };
    const reply = await endpoint.handle(call);
    // A change has already been made, and was judged in its own transaction; only the result of a read can still be withheld.
    if (endpoint.method === 'GET' && !(await this.#stillHolds(call.principal, scopes))) await recheck();
    return reply;
  }

  /** Runs the guard, reads the body, and runs the guard again if it had to wait for the body. */
  async #admit<P extends Principal | null>(judge: () => Promise<P>, neededScopes?: readonly string[]) {
    const exchange = this.#exchange;
    const admitted = await judge();
    // The client disconnected while its credential was judged: the rest of the body will never arrive.
    if (exchange.head.hasBody && exchange.isGone) throw new Refusal('bad_request');
    const reading = new WholeBody(exchange, this.#options.body);
    const whole = reading.read();
    const { contentType } = exchange.head;
    if (!(whole instanceof Promise))
      return { exchange, principal: admitted, id: this.#id, body: whole, contentType };
    const body =
      admitted === null || neededScopes === undefined
        ? await whole
        : await whole.finally(this.#register(admitted, neededScopes, reading, judge));
    const principal = await judge();
    return { exchange, principal, id: this.#id, body, contentType };
  }

  /**
   * Registers the request, so that it ends with its credential while its body is arriving; returns the function that removes it.
   */
  #register(
    principal: Principal,
    neededScopes: readonly string[],
    body: WholeBody,
    judge: () => Promise<unknown>,
  ): () => void {
    const { openRequests } = this.#options;
    const request: OpenRequest = {
      neededScopes,
      index: -1,
      end() {
        judge().catch((error) => {
          // An unavailable store says nothing about the credential: it is judged once the body is complete.
          if (error instanceof Refusal && (error.status === 401 || error.status === 403)) body.stop(error);
        });
      },
    };
    openRequests.add(principal, request);
    const remove = () => openRequests.remove(request);
    this.#exchange.owner = { onClose: remove };
    return remove;
  }

  async #stillHolds(principal: Principal, scopes: readonly string[]): Promise<boolean> {
    const held = await this.#options.heldNow(principal);
    return held !== null && scopes.every((scope) => held.has(scope));
  }
}

/**
 * The caller of a guarded endpoint, who holds all of `scopes`. Rejects with `not_authenticated`, `insufficient_scope`,
 * and as `identify` does.
 */
async function requireCaller(
  identify: Identify,
  exchange: Exchange,
  scopes: readonly string[],
): Promise<Principal> {
  const principal = await identify(exchange, false);
  if (principal === null) throw new Refusal('not_authenticated');
  requireScopes(principal, scopes);
  return principal;
}

/** The caller of an endpoint that admits only sessions. Rejects with `session_required`, and as {@link requireCaller}. */
async function requireSession(identify: Identify, exchange: Exchange): Promise<Principal> {
  const principal = await requireCaller(identify, exchange, []);
  if (principal.kind === 'api_key') throw new Refusal('session_required');
  return principal;
}

/**
 * The session of a valid bearer token, for sign-out: an invalid token counts as absent, because the cookie alone is enough.
 * Rejects with `session_required` for an API key.
 */
async function sessionIfValid(identify: Identify, exchange: Exchange): Promise<Principal | null> {
  try {
    const principal = await identify(exchange, true);
    if (principal?.kind === 'api_key') throw new Refusal('session_required');
    return principal;
  } catch (error) {
    if (error instanceof Refusal && isInvalidBearer(error, exchange.head)) return null;
    throw error;
  }
}

/** True for a bearer token that was refused; with `api_keys.bearer` it may have been refused as an API key. */
function isInvalidBearer({ code }: Refusal, { authorization, apiKeyCount }: RequestHead): boolean {
  if (code === 'invalid_token') return true;
  return code === 'invalid_api_key' && apiKeyCount === 0 && !isBasic(authorization);
}
