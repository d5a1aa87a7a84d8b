import type { Attempts } from './attempts.ts';
import type { Records } from './records.ts';
import type { Sessions } from './sessions.ts';
import type { SingleUse } from './single-use.ts';

/**
 * Kind of a store's method. Reads and writes are made for requests: measured, traced, and refused at once while a remote store is
 * known to be unavailable. The transaction of a write names the cached records that it invalidates, in its own process as in
 * others ({@link ./sql/steps.ts Changed}). The rest is `background`: methods called by timers and probes, and `version`, which
 * every request calls.
 */
export type Operation = 'read' | 'write' | 'background';

/** Kinds of the methods of a store; a table that lacks a method doesn't compile. */
export type Operations<Store> = { readonly [Name in keyof Store]-?: Operation };

export const recordsOperations = {
  version: 'background',
  findUser: 'read',
  findUserByName: 'read',
  passwordHashKinds: 'read',
  activate: 'write',
  replacePasswordHash: 'write',
  keepSignIn: 'write',
  noteUse: 'background',
  acceptIdentity: 'write',
  identitiesOf: 'read',
  findScopeSets: 'read',
  findScopeSetByName: 'read',
  findApiKeyByHash: 'read',
  findApiKey: 'read',
  apiKeyPrefixes: 'read',
  listApiKeys: 'read',
  createApiKeyRecord: 'write',
  deleteApiKey: 'write',
  transferApiKey: 'write',
  listUserRecords: 'read',
  findUserRecord: 'read',
  createUserRecord: 'write',
  changeUserRecord: 'write',
  judgeUserRecord: 'write',
  removeUserRecord: 'write',
  linkUserIdentity: 'write',
  unlinkUserIdentity: 'write',
  inviteUser: 'write',
  findInvitation: 'read',
  redeemInvitation: 'write',
  endSessionsOfUser: 'write',
  endAllSessions: 'write',
  listScopeSets: 'read',
  findScopeSet: 'read',
  createScopeSet: 'write',
  changeScopeSet: 'write',
  removeScopeSet: 'write',
  addAuditEvents: 'write',
  listAuditEvents: 'read',
  findAuditEvent: 'read',
  pruneAuditEvents: 'background',
  applyManaged: 'write',
  configurationInForce: 'read',
  signingKeys: 'read',
  turnSigningKeys: 'write',
  secret: 'write',
  bootstrap: 'read',
  setBootstrapToken: 'write',
  takeCommandEvents: 'background',
  ping: 'background',
  backup: 'background',
  close: 'background',
} as const satisfies Operations<Records>;

const sessionsOperations = {
  create: 'write',
  present: 'write',
  findLive: 'read',
  find: 'read',
  idsOfProvider: 'read',
  list: 'read',
  countLive: 'background',
  noteUse: 'background',
  revoke: 'write',
  revokeAllOf: 'write',
  revokeAll: 'write',
  onEnded: 'background',
  prune: 'background',
  ping: 'background',
  close: 'background',
} as const satisfies Operations<Sessions>;

const attemptsOperations = {
  count: 'write',
  giveBack: 'write',
  findAttempts: 'read',
  liftAttempts: 'write',
} as const satisfies Operations<Attempts>;

const singleUseOperations = {
  consume: 'write',
  wasConsumed: 'read',
  release: 'write',
} as const satisfies Operations<SingleUse>;

/** Any method of a store. */
export type Call = (...args: unknown[]) => unknown;

/** Copies a store, which has to be a plain object, with `wrap` applied to each method that `operations` lists. */
export function wrapCalls<S extends object>(
  store: S,
  operations: Operations<NoInfer<S>>,
  wrap: (call: Call, operation: Operation, name: keyof S & string) => Call,
): S {
  const copy = { ...store };
  for (const name of Object.keys(store) as (keyof S & string)[]) {
    const operation = operations[name];
    if (operation !== undefined)
      copy[name] = wrap(store[name] as Call, operation, name) as S[keyof S & string];
  }
  return copy;
}

/** The stores that requests use. */
interface RequestStores {
  readonly records: Records;
  readonly sessions: Sessions;
  readonly attempts: Attempts;
  readonly singleUse: SingleUse;
}

/** A method of a store that reads or writes. */
export interface StoreOperation {
  readonly store: 'records' | 'sessions' | 'attempts' | 'single_use';
  readonly kind: Exclude<Operation, 'background'>;
  readonly name: string;
}

/** Copies the stores, with `wrap` applied to each method that reads or writes. */
export function wrapStores<S extends RequestStores>(
  stores: S,
  wrap: (call: Call, operation: StoreOperation) => Call,
): S {
  const wrapped = <T extends object>(
    store: StoreOperation['store'],
    plain: T,
    operations: Operations<NoInfer<T>>,
  ) =>
    wrapCalls(plain, operations, (call, kind, name) =>
      kind === 'background' ? call : wrap(call, { store, kind, name }),
    );
  return {
    ...stores,
    records: wrapped('records', stores.records, recordsOperations),
    sessions: wrapped('sessions', stores.sessions, sessionsOperations),
    attempts: wrapped('attempts', stores.attempts, attemptsOperations),
    singleUse: wrapped('single_use', stores.singleUse, singleUseOperations),
  };
}
