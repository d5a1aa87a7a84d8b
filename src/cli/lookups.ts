import { canonicalAccountName } from '../credentials/account-name.ts';
import { suggestion } from '../rules/nearest-name.ts';
import type { ListedApiKey } from '../stores/api-key.ts';
import type { ApiKeyFilters, ApiKeyPosition } from '../stores/api-key-query.ts';
import type { ScopeSet } from '../stores/scope-set.ts';
import type { User } from '../stores/user.ts';
import { Failure } from './command.ts';
import type { CommandContext } from './with-stores.ts';

/** The user of a name, in any case; throws Failure when there is none. */
export async function requireUser({ records }: CommandContext, name: string): Promise<User> {
  const found = await records.findUserByName(canonicalAccountName(name));
  if (found === undefined) throw new Failure('failed', `there is no user ${JSON.stringify(name)}`);
  return found.user;
}

/** The scopes of a space-separated text, sorted and distinct; throws Failure naming those the catalogue lacks. */
export function requireScopes({ catalogue }: CommandContext, text: string): readonly string[] {
  const scopes = [...new Set(text.split(/\s+/).filter((scope) => scope !== ''))].sort();
  const unknown = scopes.filter((scope) => !catalogue.has(scope));
  if (unknown.length > 0) {
    const hint = suggestion(unknown[0]!, [...catalogue]);
    const list = `the catalogue is ${[...catalogue].sort().join(' ')}`;
    throw new Failure('failed', `not in the catalogue of scopes: ${unknown.join(' ')}${hint || `; ${list}`}`);
  }
  return scopes;
}

/** The scope sets of those names; throws Failure naming those that aren't there. */
export async function requireScopeSets(
  { records }: CommandContext,
  names: readonly string[],
): Promise<readonly ScopeSet[]> {
  const found = await Promise.all(names.map((name) => records.findScopeSetByName(name)));
  const unknown = names.filter((_, index) => found[index] === undefined);
  if (unknown.length > 0) throw new Failure('failed', `no such scope set: ${unknown.join(', ')}`);
  return found as ScopeSet[];
}

const pageSize = 100;

/** Every key that passes the filters, newest first. */
export async function allKeysOf(
  { records, now }: CommandContext,
  filters: ApiKeyFilters,
): Promise<readonly ListedApiKey[]> {
  const found: ListedApiKey[] = [];
  let from: ApiKeyPosition | undefined;
  for (;;) {
    const { items, after } = await records.listApiKeys({
      sortBy: 'created',
      sortOrder: 'desc',
      filters,
      from,
      size: pageSize,
      now: now(),
    });
    found.push(...items);
    const last = items.at(-1);
    if (!after || last === undefined) return found;
    from = { value: last.key.created, id: last.key.id };
  }
}
