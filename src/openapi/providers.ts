import { logoutFields } from '../endpoints/back-channel-logout.ts';
import { exchangeFields, exchangeResponse } from '../endpoints/provider-exchange-fields.ts';
import { startQuery, startResponse } from '../endpoints/provider-start.ts';
import type { RefusalCode } from '../errors.ts';
import type { Operation } from './operation.ts';

const refusals: readonly RefusalCode[] = [
  'invalid_assertion',
  'user_not_provisioned',
  'not_found',
  'store_unavailable',
  'provider_unavailable',
  'overloaded',
];

const exchange = {
  description:
    'The provider’s `response` says which fields are required; others are ignored. It succeeds once, in the browser that began the sign-in, whose cookie of that start it clears.',
  path: '/api/login/{provider}/exchange',
  guard: 'open',
  oauth: true,
  success: {
    status: 200,
    description: 'An access token; the refresh token is in the cookie.',
    schema: exchangeResponse,
    headers: ['Set-Cookie', 'Referrer-Policy'],
  },
  refusals,
} as const;

/** The operations for signing in through an identity provider. */
export const providerOperations: readonly Operation[] = [
  {
    id: 'Authentication-Start',
    summary: 'Begins a sign-in through an identity provider',
    description: 'Sets a cookie that binds the sign-in to this browser; up to eight may go on at once.',
    method: 'GET',
    path: '/api/login/{provider}/start',
    guard: 'open',
    query: startQuery,
    success: {
      status: 200,
      description: 'Where the browser goes next.',
      schema: startResponse,
      headers: ['Set-Cookie', 'Referrer-Policy'],
    },
    refusals: ['not_found', 'provider_unavailable'],
  },
  {
    ...exchange,
    id: 'Authentication-Exchange',
    summary: 'Signs in with what the provider returned',
    method: 'GET',
    query: exchangeFields,
  },
  {
    ...exchange,
    id: 'Authentication-ExchangeForm',
    summary: 'Signs in with what the provider returned, kept out of addresses',
    refusals: ['cross_site', ...refusals],
    method: 'POST',
    body: { mediaType: 'application/x-www-form-urlencoded', schema: exchangeFields },
  },
  {
    id: 'Authentication-BackChannelLogout',
    summary: 'Ends the sessions that an identity provider says have ended',
    description:
      'For the provider itself (OpenID Connect Back-Channel Logout 1.0). Ends the sessions that began under the `sid` of the logout token, or without one those of its `sub`. A token is accepted once; 200 also where there is no such session.',
    method: 'POST',
    path: '/api/login/{provider}/back-channel-logout',
    guard: 'open',
    oauth: true,
    body: {
      mediaType: 'application/x-www-form-urlencoded',
      schema: logoutFields,
      malformed: 'bad_request',
    },
    success: { status: 200, description: 'None of those sessions lives any longer. Empty body.' },
    refusals: ['bad_request', 'not_found', 'store_unavailable', 'provider_unavailable'],
  },
];
