import { activatedUser, activationBody } from '../endpoints/bootstrap.ts';
import { jwkSet } from '../endpoints/jwks.ts';
import { loginForm } from '../endpoints/login.ts';
import { loginResponse } from '../endpoints/login-response.ts';
import { invitationRedeem } from '../endpoints/users/invitation-schemas.ts';
import type { Operation } from './operation.ts';

/** The operations for obtaining, renewing and giving up credentials. */
export const authenticationOperations: readonly Operation[] = [
  {
    id: 'Authentication-Login',
    summary: 'Signs in with a password',
    description:
      'Failed attempts are counted per account and address, per account and per address. A post from a foreign page is refused.',
    method: 'POST',
    path: '/api/login/access-token',
    guard: 'open',
    oauth: true,
    body: { mediaType: 'application/x-www-form-urlencoded', schema: loginForm },
    success: {
      status: 200,
      description: 'An access token; the refresh token is in the cookie.',
      schema: loginResponse,
      headers: ['Set-Cookie'],
    },
    refusals: ['invalid_credentials', 'cross_site', 'too_many_attempts', 'overloaded', 'store_unavailable'],
  },
  {
    id: 'Authentication-Refresh',
    summary: 'Renews the access token',
    description: 'The cookie may be rotated. A refusal never clears it.',
    method: 'POST',
    path: '/api/login/refresh-token',
    guard: 'open',
    takesCookie: true,
    oauth: true,
    success: {
      status: 200,
      description: 'A new access token.',
      schema: loginResponse,
      headers: ['Set-Cookie'],
    },
    refusals: ['invalid_refresh_token', 'cross_site', 'store_unavailable'],
  },
  {
    id: 'Authentication-Logout',
    summary: 'Signs out',
    description:
      "Ends the session of the bearer token and that of the cookie. With the cookie alone it must not come from another site; a browser's prefetch ends nothing. An access token that is no longer good counts as absent.",
    method: 'GET',
    path: '/api/logout',
    guard: 'sign_out',
    takesCookie: true,
    success: {
      status: 200,
      description: 'Signed out: access token and cookie stop working, the cookie is cleared. No body.',
      headers: ['Set-Cookie'],
    },
    refusals: ['prefetch'],
  },
  {
    id: 'Authentication-Jwks',
    summary: 'Gives the public keys of access tokens',
    description: 'May be cached for five minutes.',
    method: 'GET',
    path: '/.well-known/jwks.json',
    guard: 'open',
    success: {
      status: 200,
      description: 'A JWK set (RFC 7517).',
      schema: jwkSet,
      headers: ['Cache-Control'],
    },
    refusals: ['method_not_allowed'],
  },
  {
    id: 'Authentication-AssertionJwks',
    summary: 'Gives the public keys of assertions',
    description:
      'For the services that verify `X-Auth-Assertion`. May be cached for five minutes. The management listener has them, too.',
    method: 'GET',
    path: '/.well-known/postern-assertion-jwks.json',
    guard: 'open',
    success: {
      status: 200,
      description: 'A JWK set (RFC 7517).',
      schema: jwkSet,
      headers: ['Cache-Control'],
    },
    refusals: ['method_not_allowed'],
  },
  {
    id: 'Authentication-RedeemInvitation',
    summary: 'Sets a password with an invitation',
    description:
      'Once, and only while the one who invited may still give what the user holds. Ends all sessions of the user. A malformed password does not use the invitation up. Wrong tokens are counted per address.',
    method: 'POST',
    path: '/api/login/invitation',
    guard: 'open',
    body: { mediaType: 'application/json', schema: invitationRedeem(1) },
    success: { status: 204, description: 'The password is set. No body.' },
    refusals: ['invalid_invitation', 'too_many_attempts', 'overloaded', 'store_unavailable'],
  },
  {
    id: 'Bootstrap-Activate',
    summary: 'Makes the first administrator',
    description: 'Once per records store. Wrong tokens are counted per address.',
    method: 'POST',
    path: '/api/bootstrap/activate',
    guard: 'open',
    // The minimum length is configured; everywhere a password must not be blank.
    body: { mediaType: 'application/json', schema: activationBody(1) },
    success: { status: 201, description: 'The administrator.', schema: activatedUser },
    refusals: [
      'invalid_bootstrap_token',
      'already_activated',
      'conflict',
      'too_many_attempts',
      'overloaded',
      'store_unavailable',
    ],
  },
];
