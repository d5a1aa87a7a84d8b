import { Refusal, type RefusalCode } from '../errors.ts';
import type { Reason } from '../reasons.ts';
import type { OtherName } from './other-name.ts';

/** Default reasons by code, for refusals that state no reason of their own. */
const byCode: Readonly<Record<RefusalCode, Reason>> = {
  bad_request: 'malformed request',
  ambiguous_credentials: 'two credentials',
  invalid_cursor: 'cursor',
  not_authenticated: 'no credential',
  invalid_token: 'access token malformed',
  invalid_api_key: 'api key unknown',
  invalid_credentials: 'wrong user name or password',
  invalid_refresh_token: 'refresh cookie',
  invalid_assertion: 'assertion',
  invalid_invitation: 'invitation',
  invalid_bootstrap_token: 'bootstrap token',
  insufficient_scope: 'missing scope',
  session_required: 'session required',
  api_key_required: 'api key required',
  user_not_provisioned: 'not provisioned',
  expiry_exceeds_caller: 'key would outlive its parent',
  address_not_allowed: 'peer is not an allowed proxy',
  cross_site: 'foreign page',
  wrong_password: 'wrong current password',
  prefetch: 'prefetch',
  not_found: 'not found',
  method_not_allowed: 'method not served',
  request_timeout: 'body timed out',
  already_activated: 'already activated',
  conflict: 'conflict',
  in_use: 'in use',
  managed: 'managed by the configuration',
  last_administrator: 'last administrator',
  precondition_failed: 'version changed',
  body_too_large: 'body too large',
  target_too_long: 'target too long',
  expectation_failed: 'expect header',
  misdirected: 'host of another machine',
  too_many_attempts: 'too many attempts',
  headers_too_large: 'head too large',
  internal_error: 'internal error',
  not_implemented: 'unknown method',
  upstream_unavailable: 'connect failed',
  store_unavailable: 'store unavailable',
  provider_unavailable: 'identity provider unavailable',
  overloaded: 'overloaded',
  upstream_overloaded: 'too many waiting requests',
  upstream_timeout: 'response timed out',
  version_not_supported: 'HTTP version',
  loop_detected: 'passed here before',
};

/** Reasons by the text with which the HTTP engine reports a malformed message. */
export const engineReasons: Readonly<Record<string, Reason>> = {
  'forbidden character': 'forbidden byte in the head',
  'request line': 'request line',
  method: 'method name',
  'unknown method': 'unknown method',
  'field line': 'header line',
  'field name': 'header name',
  version: 'HTTP version',
  'chunk size': 'body is malformed',
  'chunk extension': 'body is malformed',
  'chunk end': 'body is malformed',
  trailers: 'body is malformed',
};

/**
 * The reason for a refusal or for the field problems of a 422; any other error is an internal one. `otherName`: the name that
 * explains the refusal.
 */
export function refusalReason(error: { readonly code: string }, otherName: OtherName | null = null): Reason {
  if (!(error instanceof Refusal))
    return error.code === 'validation_error' ? 'field problems' : 'internal error';
  const { reason, cause } = error.options;
  if (reason !== undefined) return reason;
  if (error.code === 'cross_site' && otherName?.isOfPostern) return 'another name than base_url';
  return (typeof cause === 'string' ? engineReasons[cause] : undefined) ?? byCode[error.code];
}

/** The reason why received bytes could not be read as a request. */
export function unreadableReason(refusal: Refusal): Reason {
  if (refusal.code === 'request_timeout') return 'head timed out';
  if (refusal.code === 'bad_request' && refusal.options.cause === undefined) return 'not an HTTP request';
  return refusalReason(refusal);
}
