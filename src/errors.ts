import type { Reason } from './reasons.ts';

/** A refusal's entry in the table: its HTTP status and constant public text. */
export interface RefusalEntry {
  readonly status: number;
  readonly detail: string;
}

const table = {
  bad_request: { status: 400, detail: 'Bad request' },
  ambiguous_credentials: { status: 400, detail: 'More than one credential was presented' },
  invalid_cursor: { status: 400, detail: 'Invalid cursor value' },
  not_authenticated: { status: 401, detail: 'Not authenticated' },
  invalid_token: { status: 401, detail: 'Invalid or expired access token' },
  invalid_api_key: { status: 401, detail: 'Invalid or expired API key' },
  invalid_credentials: { status: 401, detail: 'Incorrect username or password' },
  invalid_refresh_token: { status: 401, detail: 'Invalid or expired refresh token' },
  invalid_assertion: { status: 401, detail: 'Invalid assertion' },
  invalid_invitation: { status: 401, detail: 'Invalid or expired invitation' },
  invalid_bootstrap_token: { status: 401, detail: 'Invalid bootstrap token' },
  insufficient_scope: { status: 403, detail: 'Missing scope' },
  session_required: { status: 403, detail: 'A session is required' },
  api_key_required: { status: 403, detail: 'An API key is required' },
  user_not_provisioned: { status: 403, detail: 'The user is not provisioned' },
  expiry_exceeds_caller: { status: 403, detail: 'The key would outlive the key that mints it' },
  address_not_allowed: { status: 403, detail: 'Address not allowed' },
  cross_site: { status: 403, detail: 'Cross-site request' },
  wrong_password: { status: 403, detail: 'The current password is wrong' },
  prefetch: { status: 403, detail: 'Prefetch requests are refused' },
  not_found: { status: 404, detail: 'Not found' },
  method_not_allowed: { status: 405, detail: 'Method not allowed' },
  request_timeout: { status: 408, detail: 'Request timeout' },
  already_activated: { status: 409, detail: 'Already activated' },
  conflict: { status: 409, detail: 'Conflict' },
  in_use: { status: 409, detail: 'In use' },
  managed: { status: 409, detail: 'Managed by the configuration' },
  last_administrator: { status: 409, detail: "The last enabled administrator can't be removed" },
  precondition_failed: { status: 412, detail: 'Precondition failed' },
  body_too_large: { status: 413, detail: 'Body too large' },
  target_too_long: { status: 414, detail: 'Request target too long' },
  expectation_failed: { status: 417, detail: 'Expectation failed' },
  misdirected: { status: 421, detail: 'Misdirected request' },
  too_many_attempts: { status: 429, detail: 'Too many attempts' },
  headers_too_large: { status: 431, detail: 'Request header fields too large' },
  internal_error: { status: 500, detail: 'Internal error' },
  not_implemented: { status: 501, detail: 'Not implemented' },
  upstream_unavailable: { status: 502, detail: 'Upstream unavailable' },
  store_unavailable: { status: 503, detail: 'Store unavailable' },
  provider_unavailable: { status: 503, detail: 'Identity provider unavailable' },
  overloaded: { status: 503, detail: 'Overloaded' },
  upstream_overloaded: { status: 503, detail: 'Upstream overloaded' },
  upstream_timeout: { status: 504, detail: 'Upstream timeout' },
  version_not_supported: { status: 505, detail: 'HTTP version not supported' },
  loop_detected: { status: 508, detail: 'Loop detected' },
} as const satisfies Record<string, RefusalEntry>;

/** The stable code of a refusal; callers branch on it, never on text. */
export type RefusalCode = keyof typeof table;

/** Every refusal by its code; a 422 with its list of problems is a {@link ValidationError} instead. */
export const refusals: Readonly<Record<RefusalCode, RefusalEntry>> = table;

/** Details of a refusal besides its code. Must not contain a credential. */
export interface RefusalOptions {
  /** For `insufficient_scope`: the missing scopes, named in the public text. */
  readonly missingScopes?: readonly string[];
  /** For `insufficient_scope`: all scopes that the call requires, for `WWW-Authenticate` (RFC 6750 §3). */
  readonly neededScopes?: readonly string[];
  /** For 429 and 503: whole seconds for `Retry-After`; default 1. */
  readonly retryAfterSeconds?: number;
  /** For 405: the methods of the resource. */
  readonly allow?: readonly string[];
  /** True to close the connection after the response, because its framing can no longer be trusted. */
  readonly close?: boolean;
  /** Reason, only for the log; default: the code's. */
  readonly reason?: Reason;
  /** Cause of the refusal, only for the log. */
  readonly cause?: unknown;
}

/** A refusal of a request with an error of the table: thrown where it is detected, and turned into a response in one place. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly options: RefusalOptions;

  constructor(code: RefusalCode, options: RefusalOptions = {}) {
    super(code, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Refusal';
    this.code = code;
    this.options = options;
  }

  get status(): number {
    return refusals[this.code].status;
  }
}

/** True if the error is a refusal with that code. */
export function isRefusal(error: unknown, code: RefusalCode): error is Refusal {
  return error instanceof Refusal && error.code === code;
}

/** A problem of a 422, in FastAPI's and pydantic 2's shape. */
export interface ValidationProblem {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  /** The raw value; `null` if it is absent or secret. */
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** A request whose fields are malformed: 422 `validation_error` with every problem at once. */
export class ValidationError extends Error {
  readonly code = 'validation_error';
  readonly status = 422;
  readonly problems: readonly ValidationProblem[];
  /** The cure for all problems at once, a constant text for OAuth's `error_description`; null: each problem has its own. */
  readonly remedy: string | null;

  constructor(problems: readonly ValidationProblem[], remedy: string | null = null) {
    super('validation_error');
    this.name = 'ValidationError';
    this.problems = problems;
    this.remedy = remedy;
  }
}
