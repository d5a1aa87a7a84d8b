import { Refusal, refusals, ValidationError } from '../errors.ts';
import { type FieldBlock, responseHeadText } from '../http1/message/head-text.ts';
import { type Challenge, challengeFor, challengesOf } from './challenge.ts';
import type { Cors } from './cors.ts';
import type { Exchange, RefusedRequest } from './exchange.ts';
import type { FindOtherName } from './other-name.ts';
import { refusalReason } from './refusal-reason.ts';

/** The response of a built-in endpoint. */
export interface Reply {
  readonly status: number;
  /** The body, sent as JSON; it is empty if `content` is absent, too. */
  readonly body?: unknown;
  /** The body in another media type, sent in place of JSON. */
  readonly content?: Content;
  /** Headers of this response alone, names and values in turn. */
  readonly headers?: readonly string[];
  /** Headers sent in place of those that the listener's `fieldsOn` returns for the request, names and values in turn. */
  readonly pathFields?: readonly string[];
  /** Further headers, shared by many responses. */
  readonly block?: FieldBlock;
  /** The value of `Cache-Control`; default: `no-store`. */
  readonly cacheControl?: string;
}

/** A body of a media type other than JSON. */
export interface Content {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Writes all of Postern's own responses on one listener. */
export interface Replies {
  send(exchange: Exchange, reply: Reply): void;
  /** Sends a refusal, or `internal_error` for any other error; if the response has begun, resets the connection instead. */
  refuse(exchange: Exchange, error: unknown, options?: { readonly oauth?: boolean }): void;
  /** Returns the response, as latin1 text, to a request whose head couldn't be read in full; the connection then closes. */
  refuseBegun(request: RefusedRequest, refusal: Refusal): string;
}

/** A refusal as status, headers (names and values in turn) and JSON body. */
export interface RefusalParts {
  readonly status: number;
  readonly code: string;
  readonly headers: string[];
  /** `detail` is a text, or the list of problems of a 422. */
  readonly body: { readonly detail: unknown };
}

/** Creates the response that a browser gets instead of a refusal in JSON; null: the JSON is sent. */
export type InsteadOf = (
  request: RefusedRequest,
  refusal: Refusal | ValidationError,
  parts: RefusalParts,
) => Reply | null;

/** Adapts a refusal to a listener before it is sent: some proxies understand only a few statuses. */
export type RefusalShape = (parts: RefusalParts) => RefusalParts;

/** Returns refusals unchanged. */
export const asItIs: RefusalShape = (parts) => parts;

/** Renders a refusal. `realm` is the tenant; `oauth` adds RFC 6749 §5.2 fields; `challenge`: schemes that a 401 names. */
export function refusalParts(
  error: Refusal | ValidationError,
  realm: string,
  requestId: string,
  oauth: boolean,
  challenge: Challenge = 'bearer',
): RefusalParts {
  const headers: string[] = [];
  let detail: unknown;
  if (error instanceof ValidationError) {
    detail = error.problems;
  } else {
    detail = refusals[error.code].detail;
    const { missingScopes, retryAfterSeconds, allow } = error.options;
    if (missingScopes !== undefined) detail = `Missing scope: ${missingScopes.join(' ')}`;
    for (const value of challengesOf(error, realm, challenge)) headers.push('WWW-Authenticate', value);
    if (error.status === 429 || error.status === 503)
      headers.push('Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds ?? 1))));
    if (error.status === 405 && allow !== undefined) headers.push('Allow', allow.join(', '));
  }
  const body = { detail, code: error.code, request_id: requestId, ...(oauth ? oauthErrorFields(error) : {}) };
  return { status: error.status, code: error.code, headers, body };
}

/** OAuth's error fields (RFC 6749 §5.2), for clients of the login, refresh and exchange endpoints. */
function oauthErrorFields(error: Refusal | ValidationError) {
  if (error instanceof ValidationError) {
    const unsupported =
      error.problems.length === 1 &&
      error.problems[0]!.type === 'string_pattern_mismatch' &&
      error.problems[0]!.loc.at(-1) === 'grant_type';
    return unsupported
      ? { error: 'unsupported_grant_type', error_description: 'The grant type is not supported' }
      : { error: 'invalid_request', error_description: error.remedy ?? 'The request is malformed' };
  }
  return { error: nameOf(error.status), error_description: refusals[error.code].detail };
}

function nameOf(status: number): string {
  if (status === 401) return 'invalid_grant';
  if (status === 403) return 'access_denied';
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

const none: readonly string[] = [];

/** Creates a listener's replies. `onInternalError` gets every error that isn't a refusal, to log it: clients never see it. */
export function createReplies(options: {
  readonly realm: string;
  readonly cors: Cors;
  /** Further headers of every response on a path of a host, names and values in turn. */
  readonly fieldsOn: (request: Pick<RefusedRequest, 'path' | 'namedHost'>) => readonly string[];
  /** Further headers of every response, names and values in turn; default: none. */
  readonly everywhere?: readonly string[];
  /** Creates the page or redirection that a browser gets instead of a refusal. */
  readonly insteadOf: InsteadOf;
  /** Default: names explain no refusal. */
  readonly findOtherName?: FindOtherName;
  readonly shape?: RefusalShape;
  readonly onInternalError: (error: unknown, exchange: Exchange) => void;
}): Replies {
  const { realm, cors, fieldsOn, everywhere = none, insteadOf, shape = asItIs, onInternalError } = options;
  const { findOtherName = () => null } = options;

  function write(exchange: Exchange, reply: Reply): void {
    const { status, headers = none, block = null, cacheControl = 'no-store' } = reply;
    const { pathFields = fieldsOn(exchange) } = reply;
    const content = contentOf(reply);
    const all = [
      'X-Request-Id',
      exchange.id,
      'Cache-Control',
      cacheControl,
      ...headers,
      ...everywhere,
      ...pathFields,
      ...exchange.responseFields,
      ...(cors.enabled && !exchange.leavesCors ? cors.responseHeaders(exchange) : none),
    ];
    if (content !== null) all.push('Content-Type', content.type);
    const bytes = content?.bytes;
    // The unread rest of a request body must not be taken for the next request.
    if (!exchange.bodyDone) exchange.closeAfterResponse();
    exchange.begin(status, all, bytes === undefined ? 0 : bytes.length, block);
    exchange.end(bytes);
  }

  function refuse(exchange: Exchange, error: unknown, oauth: boolean): void {
    const known = error instanceof Refusal || error instanceof ValidationError;
    if (!known) onInternalError(error, exchange);
    const refusal = known ? error : new Refusal('internal_error');
    const parts = shape(refusalParts(refusal, realm, exchange.id, oauth, challengeFor(exchange)));
    exchange.outcome = parts.code;
    exchange.otherName ??= findOtherName(exchange, refusal.code);
    if (exchange.reason === '') exchange.reason = refusalReason(refusal, exchange.otherName);
    if (exchange.response.begun) {
      exchange.reset(parts.code);
      return;
    }
    if (refusal instanceof Refusal && refusal.options.close) exchange.closeAfterResponse();
    try {
      write(exchange, insteadOf(exchange, refusal, parts) ?? parts);
    } catch (failure) {
      if (known) refuse(exchange, failure, oauth);
      else {
        // Not even the 500 can be written.
        onInternalError(failure, exchange);
        exchange.reset(parts.code);
      }
    }
  }

  return {
    send: write,
    refuse: (exchange, error, { oauth = false } = {}) => refuse(exchange, error, oauth),
    refuseBegun(request, refusal) {
      const parts = shape(refusalParts(refusal, realm, request.id, false));
      const reply = insteadOf(request, refusal, parts) ?? parts;
      const { id, method } = request;
      const further = [
        ...everywhere,
        ...fieldsOn(request),
        ...(cors.enabled && !request.leavesCors ? cors.responseHeaders(request) : none),
      ];
      return lastResponse(id, reply, further, method === 'HEAD');
    },
  };
}

function contentOf({ body, content }: Reply): Content | null {
  if (content !== undefined) return content;
  return body === undefined ? null : { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) };
}

/** The response, as latin1 text, to bytes that aren't a request. `more`: further headers, names and values in turn. */
export function unreadableRequestResponse(
  refusal: Refusal,
  realm: string,
  requestId: string,
  shape: RefusalShape,
  more: readonly string[] = none,
): string {
  return lastResponse(requestId, shape(refusalParts(refusal, realm, requestId, false)), more);
}

/** A response, as latin1 text, after which the connection closes. */
function lastResponse(requestId: string, reply: Reply, further = none, isToHead = false): string {
  const { type, bytes } = contentOf(reply)!;
  const fields = [
    'X-Request-Id',
    requestId,
    'Cache-Control',
    'no-store',
    ...(reply.headers ?? none),
    ...further,
    'Content-Type',
    type,
    'Content-Length',
    String(bytes.length),
    'Connection',
    'close',
  ];
  return responseHeadText(reply.status, fields) + (isToHead ? '' : bytes.toString('latin1'));
}
