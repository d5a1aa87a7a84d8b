import { uuidv7 } from 'uuidv7';
import type { z } from 'zod';
import { mintApiKey } from '../credentials/api-key.ts';
import type { Held, Holdings } from '../credentials/holdings.ts';
import type { Principal } from '../credentials/principal.ts';
import { heldScopes } from '../credentials/scopes.ts';
import { Refusal } from '../errors.ts';
import type { ApiKey, ListedApiKey, RemovedApiKey } from '../stores/api-key.ts';
import type { CallerFound } from '../stores/caller.ts';
import type { KeyTransfer, Records } from '../stores/records.ts';
import type { ScopeSet } from '../stores/scope-set.ts';
import type { SessionOrigin } from '../stores/session-origin.ts';
import type { UserRecord } from '../stores/user-records.ts';
import type { apiKeyWriteCreate } from './api-key-fields.ts';
import type { Audit, ChangeEvent } from './audit.ts';
import type { Caller } from './caller.ts';
import { type CallerRights, rightsOf, rightsOfPrincipal, rightsOfUser } from './caller-rights.ts';
import { assertHolds } from './privilege.ts';

/** Scopes that minting and revoking keys requires. */
export const keysWrite = ['apikeys:write'] as const;
/** Scopes that minting keys of other users requires. */
export const usersKeysWrite = ['apikeys:write', 'users:write'] as const;

/** Dependencies of minting. */
export interface MintParts {
  readonly records: Pick<Records, 'createApiKeyRecord' | 'deleteApiKey'>;
  readonly holdings: Holdings;
  /** All scopes that can be granted. */
  readonly catalogue: ReadonlySet<string>;
  /** Prefix of the key. */
  readonly prefix: string;
  /** Milliseconds; null: no bound. */
  readonly maxLifetimeMs: number | null;
  readonly audit: Audit;
  /** Epoch ms. */
  readonly now: () => number;
  readonly random: (byteCount: number) => Uint8Array;
}

/** Fields of a new key, as {@link apiKeyWriteCreate} validates them. */
export type NewKeyFields = z.output<ReturnType<typeof apiKeyWriteCreate>>;

/** Owner of a new key. */
export interface KeyOwner {
  readonly id: string;
  /** Set if the caller mints a key of another user: that user has to hold every right of the key. */
  readonly mustHold: boolean;
}

/** A minted key: its record, and the key itself. */
export interface Minted {
  readonly listed: ListedApiKey;
  readonly raw: string;
}

/**
 * Mints a key, within the rights of the caller. `recheck` authenticates the caller once more after the commit: if the caller lost
 * the right in the meantime, the key is revoked again and the call rejects. Rejects `not_found`, `insufficient_scope`,
 * `expiry_exceeds_caller`, `conflict` for a disabled owner or a removed set, `not_authenticated` for a removed owner or caller.
 */
export async function mintKey(
  parts: MintParts,
  by: Caller,
  owner: KeyOwner,
  fields: NewKeyFields,
  recheck?: () => Promise<Principal>,
): Promise<Minted> {
  const { records, holdings, audit, now } = parts;
  const { raw, hint, hash } = mintApiKey(parts.prefix, parts.random);
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
    if (recheck !== undefined)
      assertHolds(rightsOfPrincipal(await recheck()), grantedWith(listed.sets), needed);
  } catch (error) {
    // The key has not been shown yet.
    await deleteKey(parts, by, listed.key.id, { children: false, ownerId: owner.id });
    throw error;
  }
  return { listed, raw };
}

/** Refuses a key of another user unless the caller holds as much as that user, who in turn holds as much as the key. */
function assertMayOwn(
  holdings: Holdings,
  owner: UserRecord | undefined,
  rights: CallerRights,
  { granted, origin }: { readonly granted: Held; readonly origin: SessionOrigin | null },
): void {
  if (owner === undefined) throw new Refusal('not_found');
  assertHolds(rights, holdings.mostOf(owner), usersKeysWrite);
  assertHolds(rights, granted, usersKeysWrite);
  assertHolds(rightsOfUser(holdings.ofUser(owner, origin)), granted, []);
}

/** A key that is minted for another user has no origin: it wasn't minted in a session of that user. */
function originFrom(caller: CallerFound, ownerId: string): SessionOrigin | null {
  if (caller.kind === 'session') return caller.ref.userId === ownerId ? (caller.ref.origin ?? null) : null;
  if (caller.kind !== 'api_key' || caller.key?.key.createdBy !== ownerId) return null;
  return caller.key.key.origin;
}

function newKey(
  { maxLifetimeMs, now }: MintParts,
  { ref }: Caller,
  caller: CallerFound,
  { label, scopes, scope_sets, expires }: NewKeyFields,
): Omit<ApiKey, 'hint' | 'createdBy' | 'origin'> {
  const created = now();
  const latest = maxLifetimeMs === null ? null : created + maxLifetimeMs;
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
  /** Judges the key; undefined if only keys minted with it are left. If it throws, all are kept. */
  readonly judge?: (found: ListedApiKey | undefined) => void;
  /** Id of the owner for the audit; default: left open. */
  readonly ownerId?: string | null;
}

/** Dependencies of revoking keys. */
export interface RevokeParts {
  readonly records: Pick<Records, 'deleteApiKey'>;
  readonly audit: Audit;
  /** Ends everything that a session or key has in flight. */
  readonly onCredentialEnded: (credentialId: string) => void;
}

/** Revokes a key at once; resolves to the ids of all revoked keys. Rejects `not_found`. */
export async function revokeKey(
  parts: RevokeParts,
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
  { records, audit }: Pick<RevokeParts, 'records' | 'audit'>,
  by: Caller,
  id: string,
  { children, judge, ownerId = null }: KeyRevocation,
): Promise<readonly string[]> {
  const events = audit.withChange(by, (keys: readonly RemovedApiKey[]) =>
    keys.map((key) => keyEvent('api_key_deleted', key, key.id === id ? ownerId : null)),
  );
  return records.deleteApiKey(id, { children, judge }, events);
}

/** Gives a key to another user, whose rights bound it from then on; `judge` may refuse. Rejects `not_found`. */
export async function transferKey(
  { records, audit }: { readonly records: Pick<Records, 'transferApiKey'>; readonly audit: Audit },
  by: Caller,
  id: string,
  newOwnerId: string,
  judge: (transfer: KeyTransfer) => void,
): Promise<ListedApiKey> {
  const moved = await records.transferApiKey(id, newOwnerId, {
    caller: by.ref,
    decide: judge,
    audit: audit.withChange(by, ({ key }) => [
      { ...keyEvent('api_key_transferred', key, newOwnerId), changes: { fields: ['created_by'] } },
    ]),
  });
  if (moved === undefined) throw new Refusal('not_found');
  return moved;
}

/** An audit event about a key; `subject` is the id of its user, null if that is left open. */
export function keyEvent(
  event: ChangeEvent['event'],
  { id, label }: RemovedApiKey,
  subject: string | null,
): ChangeEvent {
  return { event, subject, key: id, target: { type: 'api_key', id, label } };
}

/** The audit event of a key that was created, with the rights that were granted to it. */
function createdKeyEvent(key: ApiKey): ChangeEvent {
  const granted = (added: readonly string[]) => ({ added, removed: [] });
  return {
    ...keyEvent('api_key_created', key, key.createdBy),
    changes: { scopes: granted(key.scopes), scope_sets: granted(key.scopeSets) },
  };
}
