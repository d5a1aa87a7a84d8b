import type { ApiKey, ApiKeyPage, ApiKeyWithOwner } from './api-key.ts';
import type { ApiKeyQuery } from './api-key-query.ts';
import type { AuditOf, AuditRecords } from './audit.ts';
import type { Awaitable } from './awaitable.ts';
import type { Identity, IdentityClaims, NewIdentityUser, UserIdentity } from './identity.ts';
import type { ScopeSet } from './scope-set.ts';
import type { NewUser, User, UserChanges, UserWithSets } from './user.ts';

/** A signing key as JWK text (RFC 7517), private part included. */
export interface SigningKey {
  readonly kid: string;
  readonly algorithm: 'ES256' | 'EdDSA' | 'RS256';
  readonly privateJwk: string;
  readonly created: number;
}

/** Whether, and how, the first administrator may still be activated over HTTP. */
export interface BootstrapState {
  readonly open: boolean;
  /** The token that a reset or the first start made; null: none made (one may be configured). */
  readonly token: string | null;
}

/**
 * The records store: users, keys, scope sets, signing keys, secrets, audit events. Every method but `noteUse` and
 * `pruneAuditEvents` is one atomic step: it happens whole or not at all, also when the process is killed, and what was
 * acknowledged stays; the audit events of a change are part of its step. Methods reject with
 * {@link ../errors.ts Refusal} `store_unavailable` when the store can't be had; other refusals are named below.
 */
export interface Records extends AuditRecords {
  /**
   * A number that is another one whenever anything a remembered identity rests on (users, keys, sets) may have been
   * changed, by this process or any other on the store. Cheap: asked on every request. Throws
   * `store_unavailable` once the store has been away for longer than `sessions.stale_if_error`.
   */
  version(): number;

  findUser(id: string): Awaitable<UserWithSets | undefined>;
  /** `canonicalName` as by credentials/account-name.ts. */
  findUserByName(canonicalName: string): Awaitable<UserWithSets | undefined>;
  /**
   * What the stored password hashes begin with, each once: kind and cost of those with 16 bytes of salt and 32 of hash,
   * as all are that Postern makes; of others more or less than that.
   */
  passwordHashKinds(): Awaitable<readonly string[]>;
  /** All users by name. */
  listUsers(): Awaitable<readonly User[]>;
  /** Closes the bootstrap for good. Refuses `conflict` when the name is taken. */
  createUser(user: NewUser, canonicalName: string, audit?: AuditOf<void>): Promise<void>;
  /**
   * Creates the first administrator and closes the bootstrap in the same step. Refuses `already_activated` when the
   * bootstrap is closed, `conflict` when the name is taken (after a reset).
   */
  activate(user: NewUser, canonicalName: string, audit?: AuditOf<void>): Promise<void>;
  /** The user as changed; undefined when there is none. Refuses `conflict` (name), `last_administrator`. */
  updateUser(id: string, changes: UserChanges, canonicalName?: string): Promise<User | undefined>;
  /** Deletes the user and, unless `keepKeys`, the keys. False when there is none. Refuses `last_administrator`. */
  removeUser(id: string, options: { readonly keepKeys: boolean }): Promise<boolean>;
  /**
   * Notes sign-ins and uses; called about once a minute with what was collected. Does not change `version`. Written in
   * batches, each atomic: noting the same uses again does no harm.
   */
  noteUse(use: {
    readonly logins: ReadonlyMap<string, number>;
    readonly keys: ReadonlyMap<string, number>;
  }): Promise<void>;

  /**
   * Somebody signs in by an identity: in one step what the provider grants is brought up to date, and the profile of a
   * user it made; with `newUser` a first sign-in makes one. A disabled user is given back and left as it is. Undefined
   * when there is no user and none to make. Refuses `conflict` when no name of `newUser` is free.
   */
  acceptIdentity(
    claims: IdentityClaims,
    newUser: NewIdentityUser | null,
  ): Promise<{ readonly found: UserWithSets; readonly isNew: boolean } | undefined>;
  /** Makes the identity that user's. False when there is no such user. Refuses `conflict` when it is another's. */
  linkIdentity(userId: string, identity: Identity, at: number): Promise<boolean>;
  /** Takes the identity from that user. False when it was not that user's. Refuses `last_administrator`. */
  unlinkIdentity(userId: string, identity: Identity): Promise<boolean>;
  identitiesOf(userId: string): Awaitable<readonly UserIdentity[]>;

  /** Sets by id, the built-in one included; unknown ids are left out. */
  findScopeSets(ids: readonly string[]): Awaitable<readonly ScopeSet[]>;
  findScopeSetByName(name: string): Awaitable<ScopeSet | undefined>;

  /** `hash` is the SHA-256 of the raw key. */
  findApiKeyByHash(hash: Uint8Array): Awaitable<ApiKeyWithOwner | undefined>;
  findApiKey(id: string): Awaitable<ApiKeyWithOwner | undefined>;
  listApiKeys(query: ApiKeyQuery): Awaitable<ApiKeyPage>;
  /**
   * Refuses `not_authenticated` when the credential that mints it is gone by the time it is written: `key.parent`, or
   * without one the owner; or when the owner is disabled.
   */
  createApiKey(key: ApiKey, hash: Uint8Array, audit?: AuditOf<void>): Promise<void>;
  /**
   * Ids of the keys deleted: itself and, with `children`, all that were minted with it, at any depth, also through keys
   * that are gone. Empty when there is nothing to delete.
   */
  deleteApiKey(
    id: string,
    options: { readonly children: boolean },
    audit?: AuditOf<readonly string[]>,
  ): Promise<readonly string[]>;

  /** All signing keys, newest first. */
  signingKeys(): Awaitable<readonly SigningKey[]>;
  /** Keeps `key` unless the store already has one of its algorithm; gives what the store then has, newest first. */
  addSigningKey(key: SigningKey): Promise<readonly SigningKey[]>;
  /** The secret of that name, made from `candidate` when there is none: every process gets the same bytes. */
  secret(name: 'cookie' | 'cursor' | 'sign_in' | 'tenant', candidate: Uint8Array): Promise<Uint8Array>;

  bootstrap(): Awaitable<BootstrapState>;
  /** Keeps `token` as the made one if the bootstrap is open and has none yet; with `reset` opens it anew. Gives the state after. */
  setBootstrapToken(token: string, options: { readonly reset: boolean }): Promise<BootstrapState>;

  /** Keeps what a command did, as JSON, until a gateway takes it; changes `version`. */
  keepCommandEvents(entries: readonly string[]): Promise<void>;
  /** Takes what commands did, oldest first: each is given once, to one of the gateways on the store. */
  takeCommandEvents(): Promise<readonly string[]>;

  /** Resolves when the store answers, rejects `store_unavailable` otherwise. */
  ping(): Promise<void>;
  /** Copies the whole store to a new file while it serves. Rejects when the file exists or can't be written. */
  backup(file: string): Promise<void>;
  close(): Promise<void>;
}

/** A records store that is queried over the network, and caches nothing. */
export type RemoteRecords = Omit<Records, 'version'>;
