import type { AuditEventName } from '../../log/audit-events.ts';
import type { Actor } from '../../log/log.ts';
import type { RemovedApiKey } from '../../stores/api-key.ts';
import type { Changed } from '../../stores/scope-set-records.ts';
import type { RemovedUser, UserRecord } from '../../stores/user-records.ts';
import type { ChangeEntry } from '../change-audit.ts';
import { changesBetween } from '../changes-between.ts';

/** The audit entries of a user that was created. */
export function createdUserEntries(actor: Actor, made: UserRecord): readonly ChangeEntry[] {
  return [{ ...entryAbout('user_created', actor, made), changes: userChanges(null, made) }];
}

/**
 * The audit entries of a change to a user; none if nothing was changed. Disabling and enabling have an event of their
 * own, and so has a password; everything else is a change.
 */
export function changedUserEntries(
  actor: Actor,
  { before, after }: Changed<UserRecord>,
): readonly ChangeEntry[] {
  if (before === after) return [];
  const entry = (event: AuditEventName) => entryAbout(event, actor, after);
  const changes = userChanges(before, after);
  const others = changes?.fields?.filter((name) => name !== 'disabled' && name !== 'password') ?? [];
  const isChanged = others.length > 0 || changes?.scopes !== undefined || changes?.scope_sets !== undefined;
  const { fields: _, ...held } = changes ?? {};
  return [
    ...(isChanged
      ? [{ ...entry('user_changed'), changes: { ...(others.length > 0 && { fields: others }), ...held } }]
      : []),
    ...(before.user.passwordHash === after.user.passwordHash ? [] : [entry('password_changed')]),
    ...(before.user.disabled === after.user.disabled
      ? []
      : [entry(after.user.disabled ? 'user_disabled' : 'user_enabled')]),
  ];
}

/** The audit entries of a removal, and of what became of the keys. */
export function removedUserEntries(
  actor: Actor,
  { found, deletedKeys, transferredKeys }: RemovedUser,
): readonly ChangeEntry[] {
  const keyEntry = (event: AuditEventName, { id, label }: RemovedApiKey): ChangeEntry => ({
    ...entryAbout(event, actor, found),
    key: id,
    target: { type: 'api_key', id, label },
  });
  return [
    { ...entryAbout('user_removed', actor, found), changes: userChanges(found, null) },
    ...deletedKeys.map((key) => keyEntry('api_key_deleted', key)),
    ...transferredKeys.map((key) => ({
      ...keyEntry('api_key_transferred', key),
      changes: { fields: ['created_by'] },
    })),
  ];
}

/** An entry about a user. */
export function entryAbout(
  event: AuditEventName,
  actor: Actor,
  { user }: Pick<UserRecord, 'user'>,
): ChangeEntry {
  return { event, outcome: 'success', actor, subject: user.id, target: { type: 'user', id: user.id } };
}

/** What is audited of a change: never a value but scopes and sets. */
export function userChanges(before: UserRecord | null, after: UserRecord | null) {
  return changesBetween(auditedFields(before), auditedFields(after));
}

function auditedFields(record: UserRecord | null) {
  if (record === null) return {};
  const { username, displayName, email, kind, scopes, scopeSets, disabled, passwordHash, managed } =
    record.user;
  return {
    username,
    display_name: displayName ?? undefined,
    email: email ?? undefined,
    kind,
    disabled: disabled || undefined,
    managed: managed || undefined,
    password: passwordHash ?? undefined,
    scopes,
    scope_sets: scopeSets,
  };
}
