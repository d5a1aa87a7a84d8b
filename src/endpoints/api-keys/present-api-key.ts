import { heldScopes } from '../../credentials/scopes.ts';
import type { ListedApiKey } from '../../stores/api-key.ts';
import type { ApiKeyStatus } from '../../stores/api-key-query.ts';
import { administratorSetId } from '../../stores/scope-set.ts';

/** How keys are shown: with what they point to (`hydrate`) or with bare ids. */
export interface PresentOptions {
  readonly hydrate: boolean;
  /** Epoch ms, to judge expiry. */
  readonly now: number;
  readonly catalogue: ReadonlySet<string>;
}

type ShownApiKey = Omit<ListedApiKey, 'version'>;

/** A key as `ApiKeyRead`: never the key itself, never its hash. */
export function presentApiKey(found: ShownApiKey, { hydrate, now, catalogue }: PresentOptions) {
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
    created: timestamp(key.created),
    created_by: hydrate ? { id: key.createdBy, username: owner?.username ?? null } : key.createdBy,
    parent: key.parent,
    expires: key.expires === null ? null : timestamp(key.expires),
    last_used: key.lastUsed === null ? null : timestamp(key.lastUsed),
    status: statusOf(found, now),
  };
}

function statusOf({ key, owner }: ShownApiKey, now: number): ApiKeyStatus {
  if (key.expires !== null && key.expires <= now) return 'expired';
  return owner?.disabled === true ? 'suspended' : 'active';
}

/** RFC 3339, UTC, milliseconds. */
function timestamp(instant: number): string {
  return new Date(instant).toISOString();
}
