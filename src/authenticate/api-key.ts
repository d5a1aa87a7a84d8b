import { apiKeyDigest, isApiKey, maxKeyLength } from '../credentials/api-key.ts';
import type { Holdings } from '../credentials/holdings.ts';
import { createPrincipal, type Principal } from '../credentials/principal.ts';
import type { RecentUse } from '../credentials/recent-use.ts';
import { Refusal } from '../errors.ts';
import type { Reason } from '../reasons.ts';
import type { ApiKeyWithOwner } from '../stores/api-key.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import { RecentCache } from '../stores/recent-cache.ts';
import type { Records } from '../stores/records.ts';

/** Identifies the caller by an API key; synchronous when the key is cached. Refuses with `invalid_api_key`. */
export type ApiKeyAuthenticator = (rawKey: string) => Awaitable<Principal>;

/** The outcome of verifying a key, where the store could be asked. */
export type KeyVerification = 'accepted' | 'refused';

/** A key's principal, valid for one version of the records. */
interface RememberedKey {
  readonly principal: Principal;
  readonly recordsVersion: number;
  /** When its use was last noted, epoch ms. */
  notedAt: number;
}

/** The cache is bounded, and keyed by digest, so that no raw key stays in memory. */
const rememberedKeys = 10_000;
/** Of the uses of a key within this time only the first is noted, ms: `last_used` is true to about a minute. */
const notedEveryMs = 1_000;

/** The principal of a stored key; undefined when it is expired or suspended at `now` (epoch ms). */
export function principalOfApiKey(
  found: ApiKeyWithOwner,
  options: { readonly holdings: Holdings; readonly tenant: string; readonly now: number },
): Principal | undefined {
  const { key, owner } = found;
  if (key.expires !== null && key.expires <= options.now) return undefined;
  if (owner?.disabled === true) return undefined;
  return createPrincipal({
    kind: 'api_key',
    userId: key.createdBy,
    username: owner?.username ?? null,
    displayName: owner?.displayName ?? null,
    email: owner?.email ?? null,
    ...options.holdings.ofKey(found),
    credentialId: key.id,
    expires: key.expires,
    tenant: options.tenant,
  });
}

/** Why {@link principalOfApiKey} returned none. */
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
  /** Incremented for every key that is judged. */
  readonly verifications: Record<KeyVerification, number>;
  readonly now: () => number;
}): ApiKeyAuthenticator {
  const { records, recentUse, verifications, now } = options;
  const remembered = new RecentCache<RememberedKey>(rememberedKeys);

  function refused(reason: Reason): Refusal {
    verifications.refused++;
    return new Refusal('invalid_api_key', { reason });
  }

  function admit(known: RememberedKey): Principal {
    const { principal } = known;
    const instant = now();
    if (principal.expires !== null && principal.expires <= instant) throw refused('api key expired');
    if (Math.abs(instant - known.notedAt) >= notedEveryMs) {
      known.notedAt = instant;
      recentUse.noteKey(principal.credentialId, instant);
    }
    verifications.accepted++;
    return principal;
  }

  function remember(digest: string, recordsVersion: number, found: ApiKeyWithOwner | undefined): Principal {
    const principal = found && principalOfApiKey(found, { ...options, now: now() });
    if (principal === undefined) throw refused(reasonOf(found, now()));
    const known = { principal, recordsVersion, notedAt: Number.NEGATIVE_INFINITY };
    remembered.set(digest, known);
    return admit(known);
  }

  return (raw) => {
    // A longer text isn't worth a digest.
    if (raw.length > maxKeyLength) throw refused('api key malformed');
    const digest = apiKeyDigest(raw);
    const known = remembered.get(digest);
    if (known === undefined && !isApiKey(raw)) throw refused('api key malformed');
    const version = records.version();
    if (known?.recordsVersion === version) return admit(known);
    const found = records.findApiKeyByHash(Buffer.from(digest, 'base64url'));
    return found instanceof Promise
      ? found.then((key) => remember(digest, version, key))
      : remember(digest, version, found);
  };
}
