import { accountNameRules, canonicalAccountName, parseUsername } from '../../rules/account-name.ts';
import { suggestion } from '../../rules/nearest-name.ts';
import { readsAsBuiltInSet } from '../../rules/set-name.ts';
import { keyOf } from '../report/problems.ts';
import type { Rule } from './rule.ts';

const administrator = 'administrator';
const maxSetNameCodePoints = 128;

const namesOfUsers: Rule = ({ users = {} }, { report }) => {
  const firstOf = new Map<string, string>();
  for (const name of Object.keys(users)) {
    const parsed = parseUsername(name);
    if (typeof parsed === 'object') report(['users', name], accountNameRules[parsed.problem], 'key');
    const canonical = canonicalAccountName(name);
    const first = firstOf.get(canonical);
    if (first === undefined) firstOf.set(canonical, name);
    else
      report(
        ['users', name],
        `duplicates ${keyOf(['users', first])}: user names differ without regard to case`,
        'key',
      );
  }
};

const namesOfSets: Rule = ({ scope_sets = {} }, { report }) => {
  for (const name of Object.keys(scope_sets)) {
    if (name.trim() !== name || name === '') report(['scope_sets', name], 'must have no outer spaces', 'key');
    if (/\p{Cc}/u.test(name)) report(['scope_sets', name], accountNameRules.control_character, 'key');
    // The name itself is reserved.
    if (name !== administrator && readsAsBuiltInSet(name))
      report(['scope_sets', name], `reads as ${administrator}, the built-in scope set`, 'key');
    if ([...name].length > maxSetNameCodePoints)
      report(['scope_sets', name], `must be at most ${maxSetNameCodePoints} characters`, 'key');
  }
};

const setsOfUsersAreThere: Rule = ({ users = {}, scope_sets }, { report }) => {
  if (scope_sets === undefined) return;
  const known = [administrator, ...Object.keys(scope_sets)];
  for (const [name, user] of Object.entries(users))
    for (const [index, set] of (user?.scope_sets ?? []).entries())
      if (set !== undefined && !known.includes(set))
        report(
          ['users', name, 'scope_sets', index],
          `must be a scope set of this configuration, or administrator${suggestion(set, known)}`,
        );
};

const servicesHaveNoPassword: Rule = ({ users = {} }, { report, isWritten }) => {
  for (const [name, user] of Object.entries(users))
    if (user?.kind === 'service' && isWritten(['users', name, 'password_hash']))
      report(['users', name, 'password_hash'], 'a service has no password', 'key');
};

/** Rules for the users and scope sets that the configuration manages. */
export const managedRules: readonly Rule[] = [
  namesOfUsers,
  namesOfSets,
  setsOfUsersAreThere,
  servicesHaveNoPassword,
];
