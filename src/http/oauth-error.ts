import { type Refusal, refusals, ValidationError } from '../errors.ts';

/** OAuth's error fields, added to the contract's for clients that follow RFC 6749 §5.2. */
export interface OAuthErrorFields {
  readonly error: string;
  readonly error_description: string;
}

/** `error` and `error_description` for a refusal by the login, refresh and exchange endpoints. */
export function oauthErrorFields(error: Refusal | ValidationError): OAuthErrorFields {
  if (error instanceof ValidationError) {
    const unsupported =
      error.problems.length === 1 &&
      error.problems[0]!.type === 'string_pattern_mismatch' &&
      error.problems[0]!.loc.at(-1) === 'grant_type';
    return unsupported
      ? { error: 'unsupported_grant_type', error_description: 'The grant type is not supported' }
      : { error: 'invalid_request', error_description: 'The request is malformed' };
  }
  return { error: nameOf(error.status), error_description: refusals[error.code].detail };
}

function nameOf(status: number): string {
  if (status === 401) return 'invalid_grant';
  if (status === 403) return 'access_denied';
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}
