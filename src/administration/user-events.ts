import type { AcceptedIdentity } from '../stores/identity.ts';
import type { Changed } from '../stores/scope-set-records.ts';
import type { User, UserWithSets } from '../stores/user.ts';
import type { RemovedUser, UserRecord } from '../stores/user-records.ts';
import { keyEvent, transferredKeyEvent } from './api-keys.ts';
import { type ChangeEvent, changesBetween } from './audit.ts';

/** The audit events of a user that was created. */
export function createdUserEvents(made: UserRecord): readonly ChangeEvent[] {
  return [{ ...userEvent('user_created', made), changes: userChanges(null, made) }];
}

/**
 * The audit events of a change to a user; none if nothing was changed. Disabling, enabling and a new password have events of
 * their own; everything else is in `user_changed`.
 */
export function changedUserEvents({ before, after }: Changed<UserRecord>): readonly ChangeEvent[] {
  if (before === after) return [];
  const { fields = [], ...held } = userChanges(before, after) ?? {};
  const others = fields.filter((name) => name !== 'disabled' && name !== 'password');
  const changes = { ...(others.length > 0 && { fields: others }), ...held };
  return [
    ...(Object.keys(changes).length > 0 ? [{ ...userEvent('user_changed', after), changes }] : []),
    ...(fields.includes('password') ? [userEvent('password_changed', after)] : []),
    ...(fields.includes('disabled')
      ? [userEvent(after.user.disabled ? 'user_disabled' : 'user_enabled', after)]
      : []),
  ];
}

/** The audit events of a removal, including those of the user's keys. */
export function removedUserEvents({ found, ...keys }: RemovedUser): readonly ChangeEvent[] {
  const { id } = found.user;
  return [
    { ...userEvent('user_removed', found), changes: userChanges(found, null) },
    ...keys.deletedKeys.map((key) => keyEvent('api_key_deleted', key, id)),
    ...keys.transferredKeys.map((key) => transferredKeyEvent(key, id)),
  ];
}

/** The audit events of a sign-in that created a user, or changed the user's profile or grants. */
export function acceptedUserEvents(
  { found, before }: AcceptedIdentity,
  provider: string,
): readonly ChangeEvent[] {
  const changes = changesBetween(before === undefined ? {} : acceptedFields(before), acceptedFields(found));
  if (before !== undefined && changes === null) return [];
  return [{ ...userEvent(before === undefined ? 'user_created' : 'user_changed', found), provider, changes }];
}

/** Fields that a provider can change: the profile and the grants. */
function acceptedFields({ user, grants }: UserWithSets) {
  return {
    ...profileOf(user),
    scopes: [...new Set(grants.flatMap((grant) => grant.scopes))],
    scope_sets: [...new Set(grants.flatMap((grant) => grant.scopeSets))],
  };
}

/** An event about a user. */
export function userEvent(
  event: ChangeEvent['event'],
  { user: { id, username } }: { readonly user: Pick<User, 'id' | 'username'> },
): ChangeEvent {
  return { event, subject: id, names: { [id]: username } };
}

/** The audited changes to a user: values of scopes and sets, and only the names of other fields. */
function userChanges(before: UserRecord | null, after: UserRecord | null) {
  return changesBetween(auditedFields(before), auditedFields(after));
}

function auditedFields(record: UserRecord | null) {
  if (record === null) return {};
  const { kind, scopes, scopeSets, disabled, passwordHash, managed } = record.user;
  return {
    ...profileOf(record.user),
    kind,
    disabled: disabled || undefined,
    managed: managed || undefined,
    password: passwordHash ?? undefined,
    scopes,
    scope_sets: scopeSets,
  };
}

function profileOf({ username, displayName, email }: User) {
  return { username, display_name: displayName ?? undefined, email: email ?? undefined };
}
