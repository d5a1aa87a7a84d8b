import { presentUser } from '../../administration/present-user.ts';
import { providerOf } from '../../config/sections/identity-providers.ts';
import { isRefusal } from '../../errors.ts';
import { jsonText } from '../../log/json-text.ts';
import { canonicalAccountName } from '../../rules/account-name.ts';
import type { User } from '../../stores/user.ts';
import type { UserRecord } from '../../stores/user-records.ts';
import { type Call, Failure } from '../command.ts';
import { requireUser } from '../lookups.ts';
import { printJsonAlone, tell } from '../terminal.ts';
import { type CommandContext, withStores } from '../with-stores.ts';

/**
 * Does `work` on the user that the operand names, and says so with the sentence; with `--json`, prints the user that `work`
 * resolves to instead.
 */
export async function changeNamedUser(
  call: Call,
  work: (context: CommandContext, user: User) => Promise<UserRecord>,
  sentence: (changed: PresentedUser) => string,
): Promise<void> {
  await withNamedUser(call, async (context, user) => {
    const changed = presentUserByNames(await work(context, user), context);
    await printJsonAlone(call, changed);
    tell(call, sentence(changed));
  });
}

/**
 * Does `work` on the user that the operand names; turns its refusals `not_found`, `managed` and `last_administrator` into
 * sentences.
 */
export async function withNamedUser(
  call: Call,
  work: (context: CommandContext, user: User) => Promise<void>,
): Promise<void> {
  await withStores(call, async (context) => {
    const user = await requireUser(context, call.operands[0]!);
    await work(context, user).catch((error: unknown) => {
      if (isRefusal(error, 'not_found')) throw isGone(user);
      if (isRefusal(error, 'last_administrator')) throw isLastAdministrator(user, error);
      throw isRefusal(error, 'managed') ? managedFailure(user, context, error) : error;
    });
  });
}

/** True for a managed user whom this configuration still contains. */
export function isKept({ managed, username }: User, { users }: CommandContext['config']): boolean {
  const name = canonicalAccountName(username);
  return managed && Object.keys(users).some((key) => canonicalAccountName(key) === name);
}

/** The failure if another process removed the user first. */
export function isGone({ username }: User): Failure {
  return new Failure('failed', `${jsonText(username)} was removed in the meantime`);
}

function isLastAdministrator({ username }: User, cause: unknown): Failure {
  const who = jsonText(username);
  const cure = 'user add NAME --admin or user set NAME --admin makes another one';
  return new Failure('failed', `${who} is the last enabled administrator, and stays: ${cure}`, cause);
}

/** The sentence about a service where a person is needed. */
export function neverSignsIn({ username }: User): string {
  return `${jsonText(username)} is a service, which never signs in`;
}

function managedFailure(user: User, { config }: CommandContext, cause: unknown): Failure {
  const who = jsonText(user.username);
  return isKept(user, config)
    ? new Failure('failed', `${who} is kept by the configuration: change it there`, cause)
    : new Failure('failed', `${who} has left the configuration: user enable takes it over`, cause);
}

/** A user as {@link presentUserByNames} returns it. */
export type PresentedUser = ReturnType<typeof presentUserByNames>;

/** A user for `--json`: the fields of the HTTP API, with scope sets by name, without the hash of the password. */
export function presentUserByNames(record: UserRecord, { config, holdings }: CommandContext) {
  const shown = presentUser(record, { holdings, providerOf: (issuer) => providerOf(config, issuer) });
  const names = new Map(record.sets.map(({ id, name }) => [id, name]));
  const namesOf = (ids: readonly string[]) => ids.map((id) => names.get(id) ?? id).sort();
  return {
    ...shown,
    scope_sets: namesOf(shown.scope_sets),
    provider_scope_sets: namesOf(shown.provider_scope_sets),
    identities: record.identities.map(({ issuer, subject }) => ({
      provider: providerOf(config, issuer),
      issuer,
      subject,
    })),
  };
}
