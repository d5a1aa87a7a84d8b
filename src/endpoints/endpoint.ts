import type { z } from 'zod';
import type { Principal } from '../credentials/principal.ts';
import type { RefusalCode } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import type { EndpointParts } from './endpoint-parts.ts';

/** Admits a session or an API key that holds all of the scopes. */
export interface ScopeGuard {
  readonly scopes: readonly string[];
}

/**
 * Requirement on the caller of an endpoint. `open` ignores credentials, `sign_out` takes the session of a valid token and ignores
 * an invalid one, `session` admits any session but no API key; scopes admit a session or an API key that holds all of them.
 */
export type Guard = 'open' | 'sign_out' | 'session' | ScopeGuard;

/** Caller that a guard admits; null is a caller that is not identified. */
export type CallerOf<G extends Guard> = G extends 'open'
  ? null
  : G extends 'sign_out'
    ? Principal | null
    : Principal;

/** Call of an own endpoint, past its guard. */
export interface Call<G extends Guard = ScopeGuard> {
  readonly exchange: Exchange;
  readonly principal: CallerOf<G>;
  /** The path segment that matches `{id}`; empty where the path has none. */
  readonly id: string;
  /** The whole request body, bounded by `limits.own_body`. */
  readonly body: Buffer;
  /** The media type of the body, as sent; empty without one. */
  readonly contentType: string;
  /**
   * Runs the guard once more and resolves to the caller as of now; rejects as the guard does. An endpoint that grants
   * access calls it after its commit, and revokes what it granted when this rejects.
   */
  recheck(): Promise<CallerOf<G>>;
}

/** Responds to a call; rejects with a `Refusal` or a `ValidationError`. */
export type Handle<G extends Guard = ScopeGuard> = (call: Call<G>) => Promise<Reply>;

/** Endpoint that Postern serves itself. */
export interface Endpoint<G extends Guard = ScopeGuard> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Without trailing slash; the last segment, or the one before it, may be `{id}`. */
  readonly path: string;
  readonly guard: G;
  /** Errors carry OAuth's `error` and `error_description` too. */
  readonly oauth?: boolean;
  /** HEAD is refused although GET is served. */
  readonly noHead?: boolean;
  readonly handle: Handle<G>;
}

/** Endpoint behind any of the guards. */
export type AnyEndpoint = Endpoint<'open'> | Endpoint<'sign_out'> | Endpoint<'session'> | Endpoint;

/**
 * Documentation of an endpoint of the API, from which the OpenAPI document is made. A schema is a function, because those
 * for the document alone are built only with it.
 */
export interface Operation<G extends Guard = Guard> extends Omit<Endpoint<G>, 'handle'> {
  /** `<Tag>-<Name>`. */
  readonly id: `${string}-${string}`;
  /** Path as clients call it: a list with its trailing slash; `{provider}` is the name of a provider. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** The refresh cookie is a credential too, besides what the guard accepts. */
  readonly takesCookie?: boolean;
  readonly query?: () => z.ZodObject;
  /** Set if `If-Match` is evaluated. */
  readonly takesIfMatch?: true;
  readonly body?: OperationBody;
  readonly success: OperationSuccess;
  /** Codes besides those of the guard and those of every operation. */
  readonly refusals: readonly RefusalCode[];
}

/** Request body, which is required. */
export interface OperationBody {
  /** Default: JSON. */
  readonly mediaType?: 'application/x-www-form-urlencoded';
  readonly schema: () => z.ZodObject;
  /** Code of a malformed body, which is then among the operation's; absent: 422. */
  readonly malformed?: RefusalCode;
}

/** Response to a successful call. */
export interface OperationSuccess {
  readonly status: number;
  readonly description: string;
  /** Schema of the body; absent: no body. */
  readonly schema?: () => z.ZodType;
  /** Names of headers besides `X-Request-Id`. */
  readonly headers?: readonly string[];
}

/** Endpoint of the API as its file defines it: documentation, and steps over the parts of a configuration. */
export interface EndpointDefinition<G extends Guard = ScopeGuard, Parts = EndpointParts>
  extends Operation<G> {
  create(parts: Parts): Handle<G>;
}

/** Definition behind any of the guards. */
export type AnyDefinition =
  | EndpointDefinition<'open'>
  | EndpointDefinition<'sign_out'>
  | EndpointDefinition<'session'>
  | EndpointDefinition;

/** Builds the endpoint from its definition; `provider` is the value of `{provider}` in its path. */
export function createEndpoint<G extends Guard, Parts>(
  definition: EndpointDefinition<G, Parts>,
  parts: Parts,
  provider = '',
): Endpoint<G> {
  const { method, path, guard, oauth, noHead } = definition;
  const ownPath = path.replace('{provider}', provider).replace(/\/$/, '');
  return { method, path: ownPath, guard, oauth, noHead, handle: definition.create(parts) };
}
