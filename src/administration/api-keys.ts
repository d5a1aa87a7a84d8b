import { uuidv7 } from 'uuidv7';
import type { z } from 'zod';
import { mintApiKey } from '../credentials/api-key.ts';
import type { Held } from '../credentials/holdings.ts';
import type { Principal } from '../credentials/principal.ts';
import { heldScopes } from '../credentials/scopes.ts';
import { Refusal } from '../errors.ts';
import type { ApiKey, ListedApiKey, RemovedApiKey } from '../stores/api-key.ts';
import type { CallerFound } from '../stores/caller.ts';
import type { KeyTransfer } from '../stores/records.ts';
import type { ScopeSet } from '../stores/scope-set.ts';
import type { SessionOrigin } from '../stores/session-origin.ts';
import type { UserRecord } from '../stores/user-records.ts';
import type { apiKeyWriteCreate } from './api-key-fields.ts';
import type { ChangeEvent } from './audit.ts';
import { assertHolds, type Caller, type CallerRights, rightsOf, rightsOfHeld } from './caller.ts';
import type { PartsWith, UseCaseParts } from './use-case.ts';

/** Scopes required to mint and revoke keys. */
export const keysWrite = ['apikeys:write'] as const;
/** Scopes required to mint keys for other users. */
export const usersKeysWrite = ['apikeys:write', 'users:write'] as const;

/** Dependencies of minting. */
export type MintParts = PartsWith<'createApiKeyRecord' | 'deleteApiKey'> & {
  readonly keyPrefix: string;
  /** Maximum lifetime of a key, ms; null: no bound. */
  readonly maxKeyLifetimeMs: number | null;
};

/** Fields of a new key, as {@link apiKeyWriteCreate} validates them. */
export type NewKeyFields = z.output<ReturnType<typeof apiKeyWriteCreate>>;

/** Owner of a new key. */
export interface KeyOwner {
  readonly id: string;
  /** True if the key is minted for a user whom the caller names, and who must hold every right of the key. */
  readonly mustHold: boolean;
}

/**
 * Mints a key within the rights of the caller; `raw` is the key itself. `recheck` authenticates the caller once more after the
 * commit: if the caller lost a right in the meantime, the key is revoked again and the call rejects. Rejects with `not_found`,
 * `insufficient_scope`, `expiry_exceeds_caller`, `conflict` for a disabled owner or a removed set, `not_authenticated` for a
 * removed owner or caller.
 */
export async function mintKey(
  parts: MintParts,
  by: Caller,
  owner: KeyOwner,
  fields: NewKeyFields,
  recheck?: () => Promise<Principal>,
): Promise<{ readonly listed: ListedApiKey; readonly raw: string }> {
  const { records, holdings, audit, now } = parts;
  const { raw, hint, hash } = mintApiKey(parts.keyPrefix, parts.random);
  const needed = owner.mustHold ? usersKeysWrite : keysWrite;
  const grantedWith = (sets: readonly ScopeSet[]): Held => ({
    scopes: heldScopes(fields.scopes, sets, parts.catalogue),
    scopeSets: fields.scope_sets,
  });
  const listed = await records.createApiKeyRecord(
    { ownerId: owner.id, scopeSets: fields.scope_sets },
    {
      caller: by.ref,
      decide({ owner: found, sets }, caller) {
        const rights = rightsOf(caller, holdings, now());
        const granted = grantedWith(sets);
        const origin = originFrom(caller, owner.id);
        if (owner.mustHold) assertMayOwn(holdings, found, rights, { granted, origin });
        const key = { ...newKey(parts, by, caller, fields), hint, createdBy: owner.id, origin };
        assertHolds(rights, granted, needed);
        // Last: the requested rights are judged first.
        if (found?.user.disabled) throw new Refusal('conflict');
        return { key, hash };
      },
      audit: audit.withChange(by, ({ key }: ListedApiKey) => [createdKeyEvent(key)]),
    },
  );
  try {
    if (recheck !== undefined) {
      const { held, scopeSets } = await recheck();
      assertHolds(rightsOfHeld({ scopes: held, scopeSets }), grantedWith(listed.sets), needed);
    }
  } catch (error) {
    // The key has not been shown yet.
    await deleteKey(parts, by, listed.key.id, { children: false });
    throw error;
  }
  return { listed, raw };
}

/** Refuses a key of another user unless the caller holds as much as that user, who in turn holds as much as the key. */
function assertMayOwn(
  holdings: UseCaseParts['holdings'],
  owner: UserRecord | undefined,
  rights: CallerRights,
  { granted, origin }: { readonly granted: Held; readonly origin: SessionOrigin | null },
): void {
  if (owner === undefined) throw new Refusal('not_found');
  assertHolds(rights, holdings.mostOf(owner), usersKeysWrite);
  assertHolds(rights, granted, usersKeysWrite);
  assertHolds(rightsOfHeld(holdings.ofUser(owner, origin)), granted, []);
}

/** The origin of a new key: the caller's, but none in a key for another user, which isn't minted in a session of that user. */
function originFrom(caller: CallerFound, ownerId: string): SessionOrigin | null {
  if (caller.kind === 'session') return caller.ref.userId === ownerId ? (caller.ref.origin ?? null) : null;
  if (caller.kind !== 'api_key' || caller.key?.key.createdBy !== ownerId) return null;
  return caller.key.key.origin;
}

function newKey(
  { maxKeyLifetimeMs, now }: MintParts,
  { ref }: Caller,
  caller: CallerFound,
  { label, scopes, scope_sets, expires }: NewKeyFields,
): Omit<ApiKey, 'hint' | 'createdBy' | 'origin'> {
  const created = now();
  const latest = maxKeyLifetimeMs === null ? null : created + maxKeyLifetimeMs;
  const callersEnd = caller.kind === 'api_key' ? (caller.key?.key.expires ?? null) : null;
  // A key never outlives the key that minted it.
  if (expires !== undefined && callersEnd !== null && (expires === null || expires > callersEnd))
    throw new Refusal('expiry_exceeds_caller');
  return {
    id: uuidv7(),
    label,
    scopes: scopes.toSorted(),
    scopeSets: scope_sets.toSorted(),
    created,
    parent: ref.kind === 'api_key' ? ref.keyId : null,
    session: ref.kind === 'session' ? (ref.session?.id ?? null) : null,
    expires: expires === undefined ? earlier(latest, callersEnd) : expires,
    lastUsed: null,
  };
}

function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** Options of a revocation. */
export interface KeyRevocation {
  /** True to revoke every key that was minted with it, too, at any depth. */
  readonly children: boolean;
  /** Judges the key, or undefined if only keys minted with it are left. If it throws, all keys are kept. */
  readonly judge?: (found: ListedApiKey | undefined) => void;
}

/** Revokes a key at once; resolves to the ids of all revoked keys. Rejects with `not_found`. */
export async function revokeKey(
  parts: PartsWith<'deleteApiKey'>,
  by: Caller,
  id: string,
  revocation: KeyRevocation,
): Promise<readonly string[]> {
  const deleted = await deleteKey(parts, by, id, revocation);
  if (deleted.length === 0) throw new Refusal('not_found');
  for (const key of deleted) parts.onCredentialEnded(key);
  return deleted;
}

function deleteKey(
  { records, audit }: PartsWith<'deleteApiKey'>,
  by: Caller,
  id: string,
  { children, judge }: KeyRevocation,
): Promise<readonly string[]> {
  const events = audit.withChange(by, (keys: readonly RemovedApiKey[]) =>
    keys.map((key) => keyEvent('api_key_deleted', key, key.createdBy)),
  );
  return records.deleteApiKey(id, { children, judge }, events);
}

/** Gives a key to another user, whose rights bound it from then on; `judge` may refuse. Rejects with `not_found`. */
export async function transferKey(
  { records, audit }: PartsWith<'transferApiKey'>,
  by: Caller,
  id: string,
  newOwnerId: string,
  judge: (transfer: KeyTransfer) => void,
): Promise<ListedApiKey> {
  const moved = await records.transferApiKey(id, newOwnerId, {
    caller: by.ref,
    decide: judge,
    audit: audit.withChange(by, ({ key }) => [transferredKeyEvent(key, newOwnerId)]),
  });
  if (moved === undefined) throw new Refusal('not_found');
  return moved;
}

/** An audit event about a key; `subject` is the id of its user. */
export function keyEvent(
  event: ChangeEvent['event'],
  { id, label }: Pick<RemovedApiKey, 'id' | 'label'>,
  subject: string,
): ChangeEvent {
  return { event, subject, key: id, target: { type: 'api_key', id, label } };
}

/** The audit event of a key that was given to another user; `subject` is the id of a user, as in {@link keyEvent}. */
export function transferredKeyEvent(key: RemovedApiKey, subject: string): ChangeEvent {
  return { ...keyEvent('api_key_transferred', key, subject), changes: { fields: ['created_by'] } };
}

/** The audit event of a key that was created, with the rights that were granted to it. */
function createdKeyEvent(key: ApiKey): ChangeEvent {
  const granted = (added: readonly string[]) => ({ added, removed: [] });
  return {
    ...keyEvent('api_key_created', key, key.createdBy),
    changes: { scopes: granted(key.scopes), scope_sets: granted(key.scopeSets) },
  };
}
