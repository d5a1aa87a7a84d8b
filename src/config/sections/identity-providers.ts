import { z } from 'zod';
import { isJsonPointer } from '../../rules/json-pointer.ts';
import { issuerRule, webUrlRule } from '../values/addresses.ts';
import { duration, timeout } from '../values/durations-and-sizes.ts';
import { mapByName, secret, text, title } from '../values/scalars.ts';
import { scopeList } from '../values/scope-names.ts';

// Asymmetric algorithms only: with HS256 or none, anyone who knows the client could sign for the provider (RFC 8725 §3.1).
const assertionAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;

const reservedParameters = [
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
];

const plainValue = () =>
  z.union([z.string(), z.number(), z.boolean()], { error: 'must be a text, number or boolean' });
const anyName = /^[^\0]+$/;
/** Matches the name under which a session keeps a claim. */
export const keptName = /^[a-z0-9_]{1,32}$/;

const claims = z
  .strictObject({
    username: text().prefault('preferred_username').describe('Claim that becomes the user name.'),
    display_name: text().prefault('name').describe('Claim that becomes the display name.'),
    email: text().prefault('email').describe('Claim that becomes the e-mail address.'),
  })
  .prefault({})
  .describe('Claims of the assertion that fill a new account.');

const grant = z.strictObject({
  claim: text().describe('Claim to check.'),
  value: plainValue().describe('Value the claim must have, or contain if it is a list.'),
  scope_sets: z.array(text()).prefault([]).describe('Names of the scope sets granted.'),
  scopes: scopeList().prefault([]).describe('Scopes granted.'),
});

const keptClaim = text((value) =>
  value.startsWith('/') && !isJsonPointer(value)
    ? 'must be the name of a claim or, beginning with /, a JSON Pointer, in which ~0 stands for ~ and ~1 for /'
    : undefined,
);

/** The name of a grant of a provider, made of its claim and required value; stored with the granted scopes. */
export function nameOfGrant({ claim, value }: Pick<z.output<typeof grant>, 'claim' | 'value'>): string {
  return JSON.stringify([claim, String(value)]);
}

const provider = z.strictObject({
  issuer: text(issuerRule).describe(
    'Issuer (OIDC): base URL of discovery, and `iss` of assertions; https unless on loopback.',
  ),
  client_id: text().describe('Client id at the provider, and `aud` of assertions.'),
  title: title()
    .optional()
    .describe('Name of the provider on the sign-in page and in the console; if omitted, its name here.'),
  client_secret: secret()
    .optional()
    .describe('Client secret at the provider; if omitted, a public client with PKCE.'),
  response: z
    .enum(['id_token', 'code'])
    .prefault('id_token')
    .describe('Response of the provider to the front end: the assertion itself or a code for it.'),
  redirect_uri: text(webUrlRule({ query: true }))
    .optional()
    .describe(
      'Page of the front end that the provider returns to; if omitted, which needs web, only Postern’s own pages lead to the provider.',
    ),
  scopes: z
    .array(text((value) => (/\s/.test(value) ? 'must be one scope' : undefined)))
    .refine((list) => list.includes('openid'), { error: 'must include openid' })
    .prefault(['openid', 'profile', 'email'])
    .describe('Scopes requested from the provider; must include openid.'),
  claims,
  accounts: z
    .enum(['create', 'existing'])
    .prefault('create')
    .describe('Accounts at a first sign-in: created by it, or required to exist.'),
  unsolicited: z
    .union([z.boolean(), z.literal('started')], { error: 'must be true, false or started' })
    .default(false)
    .describe(
      'Accept an assertion without a start (true), or without the cookie of its start if no foreign page can have sent it (started); off, because it allows signing a user in to another person’s account.',
    ),
  leeway: duration({ min: '0s', max: '10m' })
    .prefault('60s')
    .describe('Maximum difference between the clocks of provider and gateway.'),
  algorithms: z
    .array(z.enum(assertionAlgorithms))
    .min(1, 'must not be empty')
    .prefault(['RS256', 'PS256', 'ES256', 'EdDSA'])
    .describe('Signature algorithms of assertions; asymmetric ones only.'),
  end_session: z
    .boolean()
    .default(false)
    .describe('Continue a sign-out on Postern’s own pages at the provider; needs web.'),
  start_lifetime: timeout({ min: '1s' }).prefault('10m').describe('Maximum time from start to exchange.'),
  parameters: mapByName(anyName, 'must be a parameter’s name', z.string(), { reserved: reservedParameters })
    .prefault({})
    .describe('Additional parameters of the authorization URL.'),
  require: mapByName(anyName, 'must be a claim’s name', plainValue())
    .prefault({})
    .describe('Claims with the value each must have; otherwise the sign-in is refused.'),
  grants: z
    .array(grant)
    .prefault([])
    .describe(
      'Scope sets and scopes granted to users by the value of a claim, in sessions that began at this provider.',
    ),
  keep: mapByName(keptName, 'must be a name of 1 to 32 of a-z, 0-9 and _', keptClaim, { most: 16 })
    .prefault({})
    .describe(
      'Claims of the ID token that sessions which begin here keep for identity_headers (claim:NAME), by names of your choice, at most 16: each the name of a claim or, beginning with /, a JSON Pointer to it. At most 4 KiB together.',
    ),
});

// The last is the method of a session without a provider; the others are paths of Postern's own below /api/login.
const reservedNames = [
  'access-token',
  'refresh-token',
  'invitation',
  'token',
  'revoke',
  'register',
  'device',
  'passkey',
  'client',
  'password',
] as const;

/** `identity_providers`: OIDC providers by the name used in their paths, `/api/login/<name>/start`. */
export const identityProviders = mapByName(
  /^[a-z0-9-]{1,32}$/,
  'must be a name of 1 to 32 of a-z, 0-9 and -',
  provider,
  {
    reserved: reservedNames,
    reservedRule: `is reserved: a provider can't be named ${reservedNames.slice(0, -1).join(', ')} or ${reservedNames.at(-1)}`,
  },
)
  .prefault({})
  .describe('OIDC providers by name; the name is part of /api/login/<name>/start.');

/** The name of the provider with that issuer; null if none is configured. */
export function providerOf(
  config: { readonly identity_providers: Readonly<Record<string, { readonly issuer: string }>> },
  issuer: string,
): string | null {
  const found = Object.entries(config.identity_providers).find(([, provider]) => provider.issuer === issuer);
  return found?.[0] ?? null;
}
