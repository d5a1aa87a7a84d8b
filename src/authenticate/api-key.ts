import { apiKeyDigest, isApiKey, maxKeyLength } from '../credentials/api-key.ts';
import type { Holdings } from '../credentials/holdings.ts';
import { createPrincipal, type Principal } from '../credentials/principal.ts';
import { PrincipalCache } from '../credentials/principal-cache.ts';
import type { RecentUse } from '../credentials/recent-use.ts';
import { Refusal } from '../errors.ts';
import type { Reason } from '../reasons.ts';
import type { ApiKeyWithOwner } from '../stores/api-key.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { Records } from '../stores/records.ts';

/** Identifies the caller by an API key; synchronous when the key is cached. Refuses with `invalid_api_key`. */
export type ApiKeyAuthenticator = (rawKey: string) => Awaitable<Principal>;

/** The outcome of verifying a key; there is none while the store is unavailable. */
export type KeyVerification = 'accepted' | 'refused';

interface KeyUse {
  /** Time when the key's use was last noted, epoch ms. */
  notedAt: number;
}

/** Minimum time between two noted uses of a key, ms; `last_used` itself is written about once a minute. */
const notedEveryMs = 1_000;

/** Returns the principal of a stored key; undefined when the key is expired or suspended at `now` (epoch ms). */
export function principalOfApiKey(
  found: ApiKeyWithOwner,
  { holdings, tenant, now }: { readonly holdings: Holdings; readonly tenant: string; readonly now: number },
): Principal | undefined {
  const { key, owner } = found;
  if (key.expires !== null && key.expires <= now) return undefined;
  if (owner?.disabled === true) return undefined;
  const held = holdings.ofKey(found);
  return createPrincipal({
    kind: 'api_key',
    userId: key.createdBy,
    username: owner?.username ?? null,
    displayName: owner?.displayName ?? null,
    email: owner?.email ?? null,
    ...held,
    scopeSetNames: holdings.namesOf(found.sets, held, held.scopes, false),
    credentialId: key.id,
    expires: key.expires,
    tenant,
  });
}

function reasonOf(found: ApiKeyWithOwner | undefined, now: number): Reason {
  if (found === undefined) return 'api key unknown';
  const { expires } = found.key;
  return expires !== null && expires <= now ? 'api key expired' : 'api key suspended';
}

/** Creates the authenticator of API keys. Only a text with the shape and checksum of a key reaches a store. */
export function createApiKeyAuthenticator(options: {
  readonly records: Pick<Records, 'version' | 'findApiKeyByHash'>;
  readonly recentUse: RecentUse;
  readonly holdings: Holdings;
  readonly tenant: string;
  readonly verifications: Record<KeyVerification, number>;
  readonly now: () => number;
}): ApiKeyAuthenticator {
  const { records, recentUse, verifications, now } = options;
  /** Verified keys, by digest, so that no raw key stays in memory. */
  const remembered = new PrincipalCache<KeyUse>();

  function refused(reason: Reason): Refusal {
    verifications.refused++;
    return new Refusal('invalid_api_key', { reason });
  }

  function admit(principal: Principal, use: KeyUse): Principal {
    const instant = now();
    if (principal.expires !== null && principal.expires <= instant) throw refused('api key expired');
    if (Math.abs(instant - use.notedAt) >= notedEveryMs) {
      use.notedAt = instant;
      recentUse.noteKey(principal.credentialId, instant);
    }
    verifications.accepted++;
    return principal;
  }

  function remember(digest: string, version: number, found: ApiKeyWithOwner | undefined): Principal {
    const principal = found && principalOfApiKey(found, { ...options, now: now() });
    if (principal === undefined) throw refused(reasonOf(found, now()));
    const known = remembered.keep(digest, { notedAt: Number.NEGATIVE_INFINITY });
    known.resolve(principal, version);
    return admit(principal, known.proof);
  }

  return (raw) => {
    // A longer text isn't worth a digest.
    if (raw.length > maxKeyLength) throw refused('api key malformed');
    const digest = apiKeyDigest(raw);
    const known = remembered.get(digest);
    if (known === undefined && !isApiKey(raw)) throw refused('api key malformed');
    const version = records.version();
    const principal = known?.principalAt(version);
    if (principal !== undefined) return admit(principal, known!.proof);
    const found = records.findApiKeyByHash(Buffer.from(digest, 'base64url'));
    return found instanceof Promise
      ? found.then((key) => remember(digest, version, key))
      : remember(digest, version, found);
  };
}
