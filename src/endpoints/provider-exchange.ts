import { z } from 'zod';
import type { RefusalCode } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { assertNotForeignPage, type IsKnownOrigin } from '../http/foreign-page.ts';
import type { Reply } from '../http/reply.ts';
import type { IdentityProvider, Presented } from '../identity-providers/identity-provider.ts';
import { readForm, readQuery } from '../input/url-encoded.ts';
import type { EndpointDefinition } from './endpoint.ts';
import type { ProviderSignIn } from './provider-sign-in.ts';
import { loginResponse } from './sign-in.ts';
import type { StartCookies } from './start-cookies.ts';

const assertionFields = z.object({ assertion: z.string(), iss: z.string().optional() });
const codeFields = z.object({ code: z.string(), state: z.string(), iss: z.string().optional() });
const codeFieldsWithIssuer = codeFields.required();

/** Fields of the exchange, for the OpenAPI document; the provider's `response` decides which are required. */
const exchangeFields = z
  .object({
    assertion: z
      .string()
      .optional()
      .describe('Required with `response: id_token`: the ID token (a JWT) that the provider returned.'),
    code: z
      .string()
      .optional()
      .describe('Required with `response: code`, as `state`: what the provider returned.'),
    state: z.string().optional(),
    iss: z
      .string()
      .optional()
      .describe(
        'As the provider returned it (RFC 9207); required beside `code` where the provider announces that it returns it.',
      ),
  })
  .meta({ id: 'Body_Authentication-ExchangeForm', title: 'Body_Authentication-ExchangeForm' });

/** Fields whose values never appear in a problem. */
export const secretFields = ['assertion', 'code', 'state'] as const;

const exchangeResponse = loginResponse
  .extend({ return_to: z.string().optional().describe('As passed to the start.') })
  .meta({ id: 'ExchangeResponse' });

/** Reads the fields of the schema from query or form; throws {@link ../errors.ts ValidationError}. */
type ReadFields = <S extends z.ZodObject>(schema: S) => z.output<S>;

/** Reads an assertion or a code, as the provider's `response` says. Rejects as `read` and `requiresIssuer` do. */
export async function readPresented(
  provider: Pick<IdentityProvider, 'response' | 'requiresIssuer'>,
  read: ReadFields,
): Promise<Presented> {
  if (provider.response === 'id_token') {
    const { assertion, iss: issuer } = read(assertionFields);
    return { assertion, issuer };
  }
  const { code, state, iss: issuer } = read(codeFields);
  // Other problems of the request are reported without a call to the provider.
  if (issuer === undefined && (await provider.requiresIssuer())) read(codeFieldsWithIssuer);
  return { code, state, issuer };
}

/** Dependencies of a provider's exchange. */
export interface ProviderExchangeParts {
  readonly provider: Pick<IdentityProvider, 'response' | 'requiresIssuer'>;
  readonly providerSignIn: Pick<ProviderSignIn, 'signIn'>;
  readonly startCookies: Pick<StartCookies, 'clear'>;
  readonly isKnownOrigin: IsKnownOrigin;
}

const refusals: readonly RefusalCode[] = [
  'invalid_assertion',
  'user_not_provisioned',
  'not_found',
  'store_unavailable',
  'provider_unavailable',
  'overloaded',
];

const exchange = {
  path: '/api/login/{provider}/exchange',
  guard: 'open',
  oauth: true,
  description:
    'The provider’s `response` says which fields are required; others are ignored. It succeeds once, in the browser that began the sign-in, whose cookie of that start it clears.',
  success: {
    status: 200,
    description: 'An access token; the refresh token is in the cookie.',
    schema: () => exchangeResponse,
    headers: ['Set-Cookie', 'Referrer-Policy'],
  },
} as const;

/**
 * `GET /api/login/{provider}/exchange`: creates a session from the response that the provider gave the front end (OpenID Connect
 * Core §3.1.2.5, §3.2.2.5; RFC 9207).
 */
export const providerExchange: EndpointDefinition<'open', ProviderExchangeParts> = {
  ...exchange,
  id: 'Authentication-Exchange',
  method: 'GET',
  noHead: true,
  summary: 'Signs in with what the provider returned',
  query: () => exchangeFields,
  refusals,

  create(parts) {
    return ({ exchange }) =>
      respond(parts, exchange, (schema) => readQuery(exchange.query, schema, { secret: secretFields }));
  },
};

/** `POST /api/login/{provider}/exchange`: the same as the GET, with the fields in a form. */
export const providerExchangeForm: EndpointDefinition<'open', ProviderExchangeParts> = {
  ...exchange,
  id: 'Authentication-ExchangeForm',
  method: 'POST',
  summary: 'Signs in with what the provider returned, kept out of addresses',
  body: { mediaType: 'application/x-www-form-urlencoded', schema: () => exchangeFields },
  refusals: ['cross_site', ...refusals],

  create(parts) {
    return async ({ exchange, body, contentType }) => {
      // Login CSRF: a foreign page must not sign a browser in to another account, or use up the start of its sign-in.
      assertNotForeignPage(exchange.head, parts.isKnownOrigin);
      return respond(parts, exchange, (schema) =>
        readForm(body, contentType, schema, { secret: secretFields }),
      );
    };
  },
};

async function respond(
  { provider, providerSignIn, startCookies }: ProviderExchangeParts,
  exchange: Exchange,
  read: ReadFields,
): Promise<Reply> {
  const { reply, start } = await providerSignIn.signIn(exchange, readPresented(provider, read));
  if (start === null) return reply;
  const { returnTo } = start;
  return {
    ...reply,
    headers: [...(reply.headers ?? []), ...startCookies.clear(exchange.head.cookie, start)],
    body: returnTo === null ? reply.body : { ...reply.body, return_to: returnTo },
  };
}
