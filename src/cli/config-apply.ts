import { applyManaged, ManagedProblems } from '../administration/managed.ts';
import type { ManagedChanges } from '../stores/managed-records.ts';
import type { Changed } from '../stores/scope-set-records.ts';
import type { UserRecord } from '../stores/user-records.ts';
import type { Call } from './command.ts';
import { findingsFailure } from './configuration.ts';
import { printResult } from './terminal.ts';
import { withStores } from './with-stores.ts';

/** `config apply`: applies the users and scope sets of the file, even if another configuration has superseded it. */
export async function applyConfiguration(call: Call): Promise<void> {
  await withStores(call, async (context) => {
    const { config, read } = context;
    const applied = await applyManaged(config, { ...context, reading: 'forced' }).catch((error: unknown) => {
      throw error instanceof ManagedProblems ? findingsFailure(read, error.findings) : error;
    });
    if (applied.outcome !== 'applied') throw new Error(`a forced configuration was ${applied.outcome}`);
    const changed = namesOf(applied.changes);
    await printResult(call, changed, summaryOf(changed));
  });
}

type Names = Readonly<Record<'users' | 'scope_sets', Readonly<Record<string, readonly string[]>>>>;

/** The names of the users and scope sets that were changed, by the kind of change. */
function namesOf({ createdSets, changedSets, createdUsers, changedUsers }: ManagedChanges): Names {
  const hasLeft = ({ before, after }: Changed<UserRecord>) => after.user.disabled && !before.user.disabled;
  return {
    users: {
      created: createdUsers.map(({ user }) => user.username),
      changed: changedUsers.filter((change) => !hasLeft(change)).map(({ after }) => after.user.username),
      disabled: changedUsers.filter(hasLeft).map(({ after }) => after.user.username),
    },
    scope_sets: {
      created: createdSets.map(({ name }) => name),
      changed: changedSets.filter(({ after }) => after.managed).map(({ after }) => after.name),
      released: changedSets.filter(({ after }) => !after.managed).map(({ after }) => after.name),
    },
  };
}

function summaryOf({ users, scope_sets }: Names): string {
  const lines = [
    ...Object.entries(users).map(([what, names]) => ['users', what, names] as const),
    ...Object.entries(scope_sets).map(([what, names]) => ['scope sets', what, names] as const),
  ];
  const changed = lines.filter(([, , names]) => names.length > 0);
  if (changed.length === 0) return 'applied: nothing had to be changed';
  return changed.map(([kind, what, names]) => `${kind} ${what}: ${names.join(', ')}`).join('\n');
}
