import { z } from 'zod';
import { heldScopes } from '../credentials/scopes.ts';
import { rfc3339 } from '../input/pydantic-datetime.ts';
import {
  codePointString,
  distinctList,
  oneOf,
  togetherAtLeastOne,
  withoutControlCharacters,
} from '../input/pydantic-types.ts';
import type { ApiKeyStatus, ListedApiKey } from '../stores/api-key.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import { toTimestamp } from './timestamp.ts';

/**
 * Schema of a new key; an empty catalogue allows any scope (for the OpenAPI document). Unless `maxLifetimeMs` is null, `expires`
 * must not be null, nor later than that many ms from now. `now` returns epoch ms.
 */
export function apiKeyWriteCreate({
  catalogue,
  maxLifetimeMs,
  now,
}: {
  readonly catalogue: readonly string[];
  readonly maxLifetimeMs: number | null;
  readonly now: () => number;
}) {
  const fields = z.strictObject({
    label: codePointString({ min: 1, max: 128, trim: true, pattern: withoutControlCharacters }).describe(
      'Outer white space is trimmed; what is left has 1 to 128 characters.',
    ),
    scopes: distinctList(oneOf(catalogue), { max: 64 }).describe(
      "Of the catalogue and the caller's own; may be empty only if `scope_sets` is not.",
    ),
    scope_sets: distinctList(z.string(), { max: 16 }).default([]).describe('Ids of scope sets.'),
    expires: (maxLifetimeMs === null
      ? rfc3339({ future: now }).nullish()
      : rfc3339({ future: now, latest: () => now() + maxLifetimeMs }).optional()
    ).describe(
      'With an offset, in the future. Null: never; absent: as long as allowed. With `api_keys.max_lifetime` set, at most that far away and never null.',
    ),
  });
  return togetherAtLeastOne(fields, ['scopes', 'scope_sets']).meta({
    id: 'ApiKeyWriteCreate',
    description: '`scopes` and `scope_sets` together hold at least one item.',
  });
}

type ShownApiKey = Omit<ListedApiKey, 'version'>;

/**
 * Presents a key as `ApiKeyRead`, without the key itself or its hash. `hydrate` shows `created_by` and `scope_sets` as objects
 * instead of bare ids; `now` is epoch ms, to judge expiry.
 */
export function presentApiKey(
  found: ShownApiKey,
  { hydrate, now, catalogue }: { hydrate: boolean; now: number; catalogue: ReadonlySet<string> },
) {
  const { key, owner, sets } = found;
  return {
    id: key.id,
    label: key.label,
    hint: key.hint,
    scopes: key.scopes,
    scope_sets: hydrate
      ? sets.map(({ id, name, scopes }) => ({
          id,
          name,
          scopes: id === administratorSetId ? [...catalogue].sort() : heldScopes(scopes, [], catalogue),
        }))
      : key.scopeSets,
    created: toTimestamp(key.created),
    created_by: hydrate ? { id: key.createdBy, username: owner?.username ?? null } : key.createdBy,
    parent: key.parent,
    expires: key.expires === null ? null : toTimestamp(key.expires),
    last_used: key.lastUsed === null ? null : toTimestamp(key.lastUsed),
    status: statusOf(found, now),
  };
}

function statusOf({ key, owner }: ShownApiKey, now: number): ApiKeyStatus {
  if (key.expires !== null && key.expires <= now) return 'expired';
  return owner?.disabled === true ? 'suspended' : 'active';
}
