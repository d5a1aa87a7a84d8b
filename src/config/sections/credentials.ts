import { z } from 'zod';
import { defaultApiPath } from '../../rules/own-areas.ts';
import { maxPasswordBytes } from '../../rules/text-limits.ts';
import { duration, parseDuration, size } from '../values/durations-and-sizes.ts';
import { matching, secret, whole } from '../values/scalars.ts';

/** `tokens`: access tokens. */
export const tokens = z
  .strictObject({
    access_lifetime: duration({ min: '1s' }).prefault('10m').describe('Lifetime of an access token.'),
    algorithm: z
      .enum(['ES256', 'EdDSA', 'RS256'])
      .prefault('ES256')
      .describe('Signature algorithm of access tokens.'),
  })
  .prefault({})
  .describe('Access tokens.');

/** The refresh cookie's name unless `sessions.cookie.name` sets another. */
export const defaultCookieName = 'service_refresh_cookie';

const cookie = z
  .strictObject({
    // RFC 6265 §4.1.1: a cookie's name is a token.
    name: matching(
      /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/,
      "must be a token (RFC 6265): letters, digits and !#$%&'*+-.^_`|~",
    )
      .prefault(defaultCookieName)
      .describe('Name of the refresh cookie.'),
    path: matching(/^\/[ -:<-~]*$/, 'must begin with / and be visible ASCII without ;')
      .prefault(defaultApiPath)
      .describe('Path of the refresh cookie: api_path or a path above it; if omitted, api_path.'),
    domain: matching(
      /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/,
      'must be a domain name without a leading dot',
    )
      .optional()
      .describe('Domain of the refresh cookie; if omitted, only the host of base_url.'),
    same_site: z
      .enum(['strict', 'lax', 'none'])
      .prefault('lax')
      .describe('SameSite of the refresh cookie; none requires Secure and checks Origin.'),
    secure: z
      .union([z.literal('auto'), z.boolean()], { error: 'must be auto, true or false' })
      .prefault('auto')
      .describe('Secure attribute of the refresh cookie; auto: if base_url is https.'),
  })
  .prefault({})
  .describe('The refresh cookie.');

/** `sessions`: sign-ins and their refresh cookie. */
export const sessions = z
  .strictObject({
    idle_lifetime: duration({ min: '1s' }).prefault('14d').describe('Lifetime of a session without use.'),
    absolute_lifetime: duration({ min: '1s' })
      .prefault('90d')
      .describe('Maximum lifetime of a session, even in use.'),
    reuse_grace: duration({ min: '0s' })
      .prefault('30s')
      .describe(
        'Time for which a rotated refresh cookie is still accepted, for parallel tabs and lost responses.',
      ),
    max_per_user: whole({})
      .optional()
      .describe(
        'Maximum number of sessions of one user; a further one ends the session used longest ago. If omitted, no limit.',
      ),
    stale_if_error: duration({ min: '0s' })
      .prefault('30s')
      .describe(
        'Time for which a credential that this process has seen alive is accepted while its store is unavailable; at least stores.sessions_liveness_age.',
      ),
    cookie,
  })
  .prefault({})
  .describe('Sessions and the refresh cookie.');

/** `passwords`: minimum length and the parameters of argon2id (RFC 9106). */
export const passwords = z
  .strictObject({
    min_length: whole({ max: maxPasswordBytes })
      .prefault(12)
      .describe('Minimum length of a new password, in characters.'),
    memory: size({ max: 4 * 1024 ** 3 })
      .refine((bytes) => bytes % 1024 === 0, { error: 'must be a multiple of 1KiB' })
      .prefault('19MiB')
      .describe('argon2id memory of one hash; at least 8KiB per lane.'),
    iterations: whole({ max: 1000 }).prefault(2).describe('argon2id passes over the memory.'),
    parallelism: whole({ max: 255 }).prefault(1).describe('argon2id lanes.'),
    concurrency: whole({ max: 1024 })
      .prefault(1)
      .describe('Maximum number of hashes computed at the same time; each takes a thread and the memory.'),
    queue: whole({ min: 0 })
      .prefault(64)
      .describe('Maximum number of sign-ins that wait for a hash; beyond it 503.'),
  })
  .prefault({})
  .describe('Passwords and their hashes.');

/** `api_keys`: the format and lifetime of keys. */
export const apiKeys = z
  .strictObject({
    prefix: matching(/^[a-z0-9]{1,16}$/, 'must be 1 to 16 of a-z and 0-9')
      .prefault('pst')
      .describe('Prefix of new keys; keys with an earlier prefix keep working.'),
    bearer: z
      .boolean()
      .prefault(false)
      .describe(
        'Accept an API key as Authorization: Bearer too, for SDKs that support nothing else; if off, a key sent in place of a token is refused.',
      ),
    basic: z
      .boolean()
      .prefault(false)
      .describe(
        'Accept an API key as the password of Authorization: Basic too, or as its user name if the password is empty, for programs that support nothing else.',
      ),
    max_lifetime: duration({ min: '1s' })
      .optional()
      .describe(
        'Maximum lifetime of a new key, and its lifetime if none is requested; if omitted, no limit.',
      ),
  })
  .prefault({})
  .describe('API keys.');

/** `bootstrap`: the first administrator. */
export const bootstrap = z
  .strictObject({
    token: secret((value) => ([...value].length < 20 ? 'must be at least 20 characters' : undefined))
      .optional()
      .describe(
        'Token that activates the first administrator, at least 20 characters; if omitted, one is generated.',
      ),
  })
  .prefault({})
  .describe('Activation of the first administrator.');

/** Minimum of `rotate_every` and `publish_ahead`: time for every verifier to fetch the keys again (copies live five minutes). */
const leastAhead = '10m';
const rotationRule = 'must be a duration such as 12h or 30d, or never';

/** `signing_keys`: how the keys of tokens and assertions, and the secret of cookies, are replaced. */
export const signingKeys = z
  .strictObject({
    rotate_every: z
      .string({ error: rotationRule })
      .regex(/^(?:never|\d{1,9}(?:ms|s|m|h|d))$/, { error: rotationRule, abort: true })
      .transform((text) => (text === 'never' ? null : parseDuration(text)))
      .refine((value) => value === null || value >= parseDuration(leastAhead), {
        error: `must be at least ${leastAhead}`,
      })
      .prefault('30d')
      .describe(
        'Time for which a key signs before the next key replaces it; never: until a command rotates.',
      ),
    publish_ahead: duration({ min: leastAhead })
      .prefault('10m')
      .describe(
        'Time for which a key is published before it signs, at least 10m: copies of the published keys may be five minutes old.',
      ),
  })
  .prefault({})
  .describe(
    'Rotation of the keys that sign access tokens and assertions, and of the secret of the refresh and web cookies.',
  );
