import type { z } from 'zod';
import type { Principal } from '../credentials/principal.ts';
import type { RefusalCode } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import { atApiPath } from '../rules/own-areas.ts';
import type { EndpointParts } from './endpoint-parts.ts';

/** Guard that admits a session or an API key that holds all of the scopes. */
export interface ScopeGuard {
  readonly scopes: readonly string[];
}

/**
 * Requirement on the caller of an endpoint. `open` ignores credentials, `sign_out` takes the session of a valid token and ignores
 * an invalid one, `session` admits any session but no API key, and a {@link ScopeGuard} sessions and API keys with its scopes.
 */
export type Guard = 'open' | 'sign_out' | 'session' | ScopeGuard;

/** Caller that a guard admits; null is a caller that is not identified. */
export type CallerOf<G extends Guard> = G extends 'open'
  ? null
  : G extends 'sign_out'
    ? Principal | null
    : Principal;

/** Call to one of Postern's own endpoints that the guard has admitted. */
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
  /** True if errors carry OAuth's `error` and `error_description` too. */
  readonly oauth?: boolean;
  /** True if HEAD is refused although GET is served. */
  readonly noHead?: boolean;
  readonly handle: Handle<G>;
}

/** Endpoint with any of the guards. */
export type AnyEndpoint = Endpoint<'open'> | Endpoint<'sign_out'> | Endpoint<'session'> | Endpoint;

/**
 * Documentation of an endpoint of the API, from which the OpenAPI document is made. Schemas are given as functions, so that those
 * that only the document needs are built only when it is made.
 */
export interface Operation<G extends Guard = Guard> extends Omit<Endpoint<G>, 'handle'> {
  /** Operation id, `<Tag>-<Name>`. */
  readonly id: `${string}-${string}`;
  /** Path as clients call it, but below `/api`: a list's has a trailing slash; `{provider}` is the name of a provider. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** True if the refresh cookie is accepted as a credential, too, besides those that the guard accepts. */
  readonly takesCookie?: boolean;
  readonly query?: () => z.ZodObject;
  /** Set if `If-Match` is evaluated. */
  readonly takesIfMatch?: true;
  readonly body?: OperationBody;
  readonly success: OperationSuccess;
  /** Codes of refusals, besides those of the guard and those common to all operations. */
  readonly refusals: readonly RefusalCode[];
}

/** Request body, which is required. */
export interface OperationBody {
  /** Default: JSON. */
  readonly mediaType?: 'application/x-www-form-urlencoded';
  readonly schema: () => z.ZodObject;
  /** Code of the refusal of a malformed body, which is also in `refusals`; absent: a 422. */
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

/** Definition of an endpoint of the API: its documentation, and a function that builds its handler. */
export interface EndpointDefinition<G extends Guard = ScopeGuard, Parts = EndpointParts>
  extends Operation<G> {
  create(parts: Parts): Handle<G>;
}

/** Definition of an endpoint with any of the guards. */
export type AnyDefinition =
  | EndpointDefinition<'open'>
  | EndpointDefinition<'sign_out'>
  | EndpointDefinition<'session'>
  | EndpointDefinition;

/** Builds the endpoint from its definition, below `apiPath`; `provider` is the value of `{provider}` in its path. */
export function createEndpoint<G extends Guard, Parts>(
  definition: EndpointDefinition<G, Parts>,
  parts: Parts,
  apiPath: string,
  provider = '',
): Endpoint<G> {
  const { method, path, guard, oauth, noHead } = definition;
  const ownPath = atApiPath(path, apiPath).replace('{provider}', provider).replace(/\/$/, '');
  return { method, path: ownPath, guard, oauth, noHead, handle: definition.create(parts) };
}
