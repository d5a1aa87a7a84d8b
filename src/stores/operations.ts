import type { Attempts } from './attempts.ts';
import type { Records } from './records.ts';
import type { Sessions } from './sessions.ts';
import type { SingleUse } from './single-use.ts';

/**
 * Kind of a store's method. Reads and writes are the steps of requests: measured, traced, and refused at once while a remote
 * store is known to be unavailable. A write says in its transaction which cached records it invalidates, in its own process, too
 * ({@link ./sql/steps.ts Changed}). The rest is background: timers, probes, and `version`, which every request calls.
 */
export type Operation = 'read' | 'write' | 'background';

/** Kinds of the methods of a store; a method without its row doesn't compile. */
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

export const sessionsOperations = {
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

export const attemptsOperations = {
  count: 'write',
  giveBack: 'write',
  findAttempts: 'read',
  liftAttempts: 'write',
} as const satisfies Operations<Attempts>;

export const singleUseOperations = {
  consume: 'write',
  wasConsumed: 'read',
  release: 'write',
} as const satisfies Operations<SingleUse>;

/** Any method of a store. */
export type Call = (...args: unknown[]) => unknown;

/** Copies a store, which has to be a plain object, with `wrap` around each of its methods in the table. */
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
