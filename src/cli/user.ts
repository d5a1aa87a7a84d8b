import type { User, UserChanges } from '../stores/records.ts';
import { endSessions } from './accounts.ts';
import { allKeysOf } from './all-keys.ts';
import type { Call } from './command.ts';
import { printResult, table } from './output.ts';
import { readPasswordHash } from './passwords.ts';
import { presentUsers } from './present-users.ts';
import { type Workplace, withStores } from './with-stores.ts';
import { isGone, withUser } from './with-user.ts';

/** `user list`: all users by name. */
export async function listUsers(call: Call): Promise<void> {
  await withStores(call, async (workplace) => {
    const users = await presentUsers(workplace, await workplace.records.listUsers());
    const header = ['ID', 'USERNAME', 'STATE', 'LAST LOGIN', 'SCOPE SETS', 'SCOPES'];
    const rows = users.map((user) => [
      user.id,
      user.username,
      user.disabled ? 'disabled' : 'enabled',
      user.last_login ?? 'never',
      user.scope_sets.join(', '),
      user.scopes.join(' '),
    ]);
    await printResult(call, users, table(header, rows));
  });
}

/** `user set-password NAME`: whoever is signed in by the old password no longer is. */
export async function setPassword(call: Call): Promise<void> {
  await withUser(call, async (workplace, user) => {
    const passwordHash = await readPasswordHash(call, workplace.config);
    const changed = await update(workplace, user, { passwordHash });
    workplace.audit({ event: 'password_changed', subject: user.id });
    await endSessions(workplace, user);
    return changed;
  });
}

/** `user disable NAME`: ends the sessions and suspends the keys. */
export async function disableUser(call: Call): Promise<void> {
  await withUser(call, async (workplace, user) => {
    const changed = await update(workplace, user, { disabled: true });
    workplace.audit({ event: 'user_disabled', subject: user.id });
    await endSessions(workplace, user);
    return changed;
  });
}

/** `user enable NAME`: revives the keys. */
export async function enableUser(call: Call): Promise<void> {
  await withUser(call, async (workplace, user) => {
    const changed = await update(workplace, user, { disabled: false });
    workplace.audit({ event: 'user_enabled', subject: user.id });
    return changed;
  });
}

/** `user remove NAME`: deletes the user and, unless `--keep-keys`, the keys the user minted. */
export async function removeUser(call: Call): Promise<void> {
  await withUser(call, async (workplace, user) => {
    const keepKeys = call.isSet('keep-keys');
    const keys = keepKeys ? [] : await allKeysOf(workplace, { createdByEq: user.id });
    if (!(await workplace.records.removeUser(user.id, { keepKeys }))) throw isGone(user);
    workplace.audit({ event: 'user_removed', subject: user.id });
    for (const { key } of keys) workplace.audit({ event: 'api_key_deleted', subject: user.id, key: key.id });
    await endSessions(workplace, user);
    return user;
  });
}

async function update({ records }: Workplace, user: User, changes: UserChanges): Promise<User> {
  const changed = await records.updateUser(user.id, changes);
  if (changed === undefined) throw isGone(user);
  return changed;
}
