import { Refusal } from '../../errors.ts';
import type { Call } from '../command.ts';
import { allKeys, allUsers } from '../lookups.ts';
import { type Column, printTable } from '../table.ts';
import { printResult, properties, readableMinute, readableTime } from '../terminal.ts';
import { withStores } from '../with-stores.ts';
import { type PresentedUser, presentUserByNames, withNamedUser } from './with-user.ts';

const columns: readonly Column[] = [
  { title: 'USERNAME', wraps: true },
  { title: 'KIND' },
  { title: 'STATE' },
  { title: 'LAST LOGIN', leaves: 2 },
  { title: 'SCOPE SETS', wraps: true },
  { title: 'SCOPES', wraps: true },
  { title: 'ID', leaves: 1 },
];

/** `user list`: prints all users by name. */
export async function listUsers(call: Call): Promise<void> {
  await withStores(call, async (context) => {
    const users = (await allUsers(context)).map((record) => presentUserByNames(record, context));
    const rows = users.map((user) => [
      user.username,
      user.kind,
      stateOf(user),
      readableMinute(user.last_login, 'never'),
      [...user.scope_sets, ...user.provider_scope_sets].join(', '),
      user.scopes.join(' '),
      user.id,
    ]);
    const none = 'There are no users yet: postern user add NAME --admin creates the first.';
    await printTable(call, users, { columns, rows, none });
  });
}

/** `user show NAME`: prints everything about one user except the password. */
export async function showUser(call: Call): Promise<void> {
  await withNamedUser(call, async (context, { id }) => {
    const record = await context.records.findUserRecord(id);
    if (record === undefined) throw new Refusal('not_found');
    const user = presentUserByNames(record, context);
    const keys = await allKeys(context, id);
    const signsIn = [
      ...(user.has_password ? ['password'] : []),
      ...user.identities.map(({ provider, issuer, subject }) => `${provider ?? issuer} as ${subject}`),
    ];
    const text = properties([
      ['ID', id],
      ['Username', user.username],
      ['Display name', user.display_name ?? ''],
      ['E-mail', user.email ?? ''],
      ['Kind', user.kind],
      ['State', stateOf(user)],
      ['Signs in by', signsIn.join(', ')],
      ['Scope sets', user.scope_sets.join(', ')],
      ['Scopes', user.scopes.join(' ')],
      ['From providers', [...user.provider_scope_sets, ...user.provider_scopes].join(' ')],
      ['Holds in all', user.effective_scopes.join(' ')],
      ['API keys', String(keys.length)],
      ['Created', readableTime(user.created)],
      ['Changed', readableTime(user.updated)],
      ['Last login', user.last_login === null ? 'never' : readableTime(user.last_login)],
    ]);
    await printResult(call, user, text);
  });
}

/** State of a user: enabled or disabled, and whether the user is managed. */
function stateOf({ disabled, managed }: PresentedUser): string {
  return [disabled ? 'disabled' : 'enabled', ...(managed ? ['managed'] : [])].join(', ');
}
