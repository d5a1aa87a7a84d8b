import type { Records } from '../records.ts';
import type { RecordsChange } from './change-feed.ts';

/** Says what a write has changed, from its result (undefined: it failed) and its arguments; null: anything. */
export type ChangeOf = (result: unknown, args: readonly unknown[]) => RecordsChange | null;

type Write =
  | 'activate'
  | 'replacePasswordHash'
  | 'acceptIdentity'
  | 'createApiKeyRecord'
  | 'deleteApiKey'
  | 'transferApiKey'
  | 'applyManaged'
  | 'changeScopeSet'
  | 'createUserRecord'
  | 'changeUserRecord'
  | 'removeUserRecord'
  | 'linkUserIdentity'
  | 'unlinkUserIdentity'
  | 'redeemInvitation'
  | 'endSessionsOfUser'
  | 'endAllSessions';

type Changes = {
  readonly [Name in Write]: (
    result: Awaited<ReturnType<Records[Name]>> | undefined,
    args: Parameters<Records[Name]>,
  ) => RecordsChange | null;
};

const nothing: RecordsChange = { keys: [], users: [] };
const anything = () => null;
const userOf = (id: string): RecordsChange => ({ keys: [], users: [id] });
const userById = (_result: unknown, [id]: readonly [id: string, ...unknown[]]) => userOf(id);

const changes: Changes = {
  activate: (_result, [user]) => userOf(user.id),
  replacePasswordHash: userById,
  changeUserRecord: userById,
  linkUserIdentity: userById,
  unlinkUserIdentity: userById,
  endSessionsOfUser: userById,
  endAllSessions: anything,
  // Anyone may hold it.
  changeScopeSet: anything,
  // Many users and sets at once.
  applyManaged: (result) => (result === undefined || result.outcome === 'applied' ? null : nothing),
  // Without a result the user is unknown, and left to the feed: other users must stay cached during an outage.
  createUserRecord: (created) => (created === undefined ? nothing : userOf(created.user.id)),
  redeemInvitation: (redeemed) => (redeemed === undefined ? nothing : userOf(redeemed.user.id)),
  acceptIdentity: (accepted) => (accepted === undefined ? nothing : userOf(accepted.found.user.id)),
  removeUserRecord: (removed, [id]) => ({
    keys: [...(removed?.deletedKeys ?? []), ...(removed?.transferredKeys ?? [])].map(({ id: key }) => key),
    users: [id],
  }),
  // Without a result its id is unknown, and no one has the key.
  createApiKeyRecord: (made) => (made === undefined ? nothing : { ...nothing, newKeys: [made.key.id] }),
  deleteApiKey: (deleted, [id]) => ({ keys: [id, ...(deleted ?? [])], users: [] }),
  transferApiKey: (_result, [id]) => ({ keys: [id], users: [] }),
};

/** Gives the function that says which users and keys a call has changed; undefined for a call that changes none. */
export function changeOfWrite(name: string): ChangeOf | undefined {
  return Object.hasOwn(changes, name) ? (changes[name as Write] as ChangeOf) : undefined;
}
