import { uuidv7 } from 'uuidv7';
import type { z } from 'zod';
import { createdKeyEvent, keyEvent } from '../../administration/api-key-events.ts';
import type { apiKeyWriteCreate } from '../../administration/api-key-fields.ts';
import type { Audit } from '../../administration/audit.ts';
import type { Author } from '../../administration/caller.ts';
import { type CallerRights, rightsOf } from '../../administration/caller-rights.ts';
import { assertHolds } from '../../administration/privilege.ts';
import { type MintedApiKey, mintApiKey } from '../../credentials/api-key.ts';
import type { Held, Holdings } from '../../credentials/holdings.ts';
import type { Principal } from '../../credentials/principal.ts';
import { heldScopes } from '../../credentials/scopes.ts';
import { Refusal } from '../../errors.ts';
import type { ApiKey, ListedApiKey, RemovedApiKey } from '../../stores/api-key.ts';
import type { CallerFound } from '../../stores/caller.ts';
import type { Records } from '../../stores/records.ts';
import { administratorSetId, type ScopeSet } from '../../stores/scope-set.ts';
import type { SessionOrigin } from '../../stores/session-origin.ts';
import type { UserRecord } from '../../stores/user-records.ts';
import { callerIn } from '../caller.ts';
import type { Call } from '../endpoint.ts';

/** What minting needs. */
export interface MintingOptions {
  readonly records: Pick<Records, 'createApiKeyRecord' | 'deleteApiKey'>;
  readonly holdings: Holdings;
  readonly catalogue: ReadonlySet<string>;
  readonly prefix: string;
  /** Milliseconds; null: no bound. */
  readonly maxLifetimeMs: number | null;
  readonly audit: Audit;
  /** Epoch ms. */
  readonly now: () => number;
  readonly random: (byteCount: number) => Uint8Array;
}

/** What a new key asks for. */
export type NewKeyForm = z.output<ReturnType<typeof apiKeyWriteCreate>>;

/** Whose key it will be. */
export interface KeyOwner {
  readonly id: string;
  /** The scopes that the call itself needs. */
  readonly needed: readonly string[];
  /** Judges the owner as of the change, who may have been removed. */
  readonly judge: (owner: UserRecord | undefined, rights: CallerRights, minted: MintedRights) => void;
}

/** The rights of a new key. */
export interface MintedRights {
  /** Its scopes, those of its sets included, and its sets. */
  readonly granted: Held;
  /** As {@link ApiKey.origin}. */
  readonly origin: SessionOrigin | null;
}

/** A key that was minted. */
export interface Minted {
  readonly listed: ListedApiKey;
  /** The key itself. */
  readonly raw: string;
}

/** One key from its form to the store. */
export class Minting {
  readonly #form: NewKeyForm;
  readonly #owner: KeyOwner;
  readonly #options: MintingOptions;

  constructor(form: NewKeyForm, owner: KeyOwner, options: MintingOptions) {
    this.#form = form;
    this.#owner = owner;
    this.#options = options;
  }

  async mint(call: Call): Promise<Minted> {
    const { principal, recheck } = call;
    const by = callerIn(call);
    const { records, holdings, prefix, audit, random, now } = this.#options;
    const minted = mintApiKey(prefix, random);
    const listed = await records.createApiKeyRecord(
      { ownerId: this.#owner.id, scopeSets: this.#form.scope_sets },
      {
        caller: by.ref,
        decide: ({ owner, sets }, caller) => {
          const rights = rightsOf(caller, holdings, now());
          const granted = this.#granted(sets);
          const origin = originFrom(caller, this.#owner.id);
          this.#owner.judge(owner, rights, { granted, origin });
          const key = this.#key(minted, principal, origin);
          assertHolds(rights, granted, this.#owner.needed);
          // The last check: what the body asks for comes first.
          if (owner?.user.disabled) throw new Refusal('conflict');
          return { key, hash: minted.hash };
        },
        audit: audit.withChange(by, ({ key }: ListedApiKey) => [createdKeyEvent(key)]),
      },
    );
    try {
      assertHolds(presentedRights(await recheck()), this.#granted(listed.sets), this.#owner.needed);
    } catch (error) {
      // The caller lost the right while the key was written; the key has not been shown yet.
      await this.#revoke(listed.key, by);
      throw error;
    }
    return { listed, raw: minted.raw };
  }

  /** What it will hold: the scopes of its sets included. */
  #granted(sets: readonly ScopeSet[]): Held {
    const { scopes, scope_sets: scopeSets } = this.#form;
    return { scopes: heldScopes(scopes, sets, this.#options.catalogue), scopeSets };
  }

  #key({ hint }: MintedApiKey, caller: Principal, origin: SessionOrigin | null): ApiKey {
    const created = this.#options.now();
    return {
      id: uuidv7(),
      label: this.#form.label,
      hint,
      scopes: this.#form.scopes.toSorted(),
      scopeSets: this.#form.scope_sets.toSorted(),
      created,
      createdBy: this.#owner.id,
      parent: caller.kind === 'api_key' ? caller.credentialId : null,
      session: caller.kind === 'session' ? caller.credentialId : null,
      origin,
      expires: this.#expiry(caller, created),
      lastUsed: null,
    };
  }

  /** If absent, as late as allowed; a key minted with a key never outlives it. */
  #expiry(caller: Principal, instant: number): number | null {
    const { maxLifetimeMs } = this.#options;
    const asked = this.#form.expires;
    const own = caller.kind === 'api_key' ? caller.expires : null;
    if (asked === undefined) return earlier(maxLifetimeMs === null ? null : instant + maxLifetimeMs, own);
    if (own !== null && isLater(asked, own)) throw new Refusal('expiry_exceeds_caller');
    return asked;
  }

  async #revoke(key: ApiKey, by: Author): Promise<void> {
    const { records, audit } = this.#options;
    const revoked = audit.withChange(by, (keys: readonly RemovedApiKey[]) =>
      keys.map((one) => keyEvent('api_key_deleted', one, key.createdBy)),
    );
    await records.deleteApiKey(key.id, { children: false }, revoked);
  }
}

/** A key that is minted for another user has no origin: it wasn't minted in a session of that user. */
function originFrom(caller: CallerFound, ownerId: string): SessionOrigin | null {
  if (caller.kind === 'session') return caller.ref.userId === ownerId ? (caller.ref.origin ?? null) : null;
  if (caller.kind !== 'api_key' || caller.key?.key.createdBy !== ownerId) return null;
  return caller.key.key.origin;
}

function presentedRights({ held, scopeSets }: Principal): CallerRights {
  return {
    scopes: held,
    scopeSets: new Set(scopeSets),
    holdsEverything: scopeSets.includes(administratorSetId),
  };
}

function isLater(asked: number | null, latest: number): boolean {
  return asked === null || asked > latest;
}

function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
