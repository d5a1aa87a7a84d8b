import { Refusal } from '../../errors.ts';
import type { Call } from '../command.ts';
import { allKeys, allUsers } from '../lookups.ts';
import { printResult, properties, readableTime, table } from '../terminal.ts';
import { withStores } from '../with-stores.ts';
import { presentUserByNames, withNamedUser } from './with-user.ts';

/** `user list`: prints all users by name. */
export async function listUsers(call: Call): Promise<void> {
  await withStores(call, async (context) => {
    const users = (await allUsers(context)).map((record) => presentUserByNames(record, context));
    const header = ['ID', 'USERNAME', 'STATE', 'LAST LOGIN', 'SCOPE SETS', 'SCOPES'];
    const rows = users.map((user) => [
      user.id,
      user.username,
      stateOf(user),
      user.last_login === null ? 'never' : readableTime(user.last_login),
      [...user.scope_sets, ...user.provider_scope_sets].join(', '),
      user.scopes.join(' '),
    ]);
    const none = 'There are no users yet: postern user add NAME --admin creates the first.';
    await printResult(call, users, rows.length === 0 ? none : table(header, rows));
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

/** State of a user: enabled or disabled, and whether the user is a service or managed. */
function stateOf({ disabled, kind, managed }: ReturnType<typeof presentUserByNames>): string {
  return [
    disabled ? 'disabled' : 'enabled',
    ...(kind === 'service' ? ['service'] : []),
    ...(managed ? ['managed'] : []),
  ].join(', ');
}
