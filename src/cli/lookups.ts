import { sortedDistinct } from '../credentials/scopes.ts';
import { jsonText } from '../log/json-text.ts';
import { canonicalAccountName } from '../rules/account-name.ts';
import { suggestion } from '../rules/nearest-name.ts';
import type { ApiKeyQuery, ListedApiKey } from '../stores/api-key.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { ListPage, ListPosition } from '../stores/list-query.ts';
import type { ScopeSet } from '../stores/scope-set.ts';
import type { ScopeSetRecord } from '../stores/scope-set-records.ts';
import type { User } from '../stores/user.ts';
import type { UserRecord } from '../stores/user-records.ts';
import { Failure } from './command.ts';
import type { CommandContext } from './with-stores.ts';

/** The user of that name, regardless of case; throws Failure if there is none. */
export async function requireUser({ records }: CommandContext, name: string): Promise<User> {
  const found = await records.findUserByName(canonicalAccountName(name));
  if (found === undefined) throw new Failure('failed', `there is no user ${jsonText(name)}`);
  return found.user;
}

/** The scopes of a space-separated text, sorted and distinct; throws Failure naming those that the catalogue lacks. */
export function requireScopes({ catalogue }: CommandContext, text: string): readonly string[] {
  const scopes = sortedDistinct(text.split(/\s+/).filter((scope) => scope !== ''));
  const unknown = scopes.filter((scope) => !catalogue.has(scope));
  if (unknown.length > 0) {
    const hint = suggestion(unknown[0]!, [...catalogue]);
    const list = `the catalogue is ${[...catalogue].sort().join(' ')}`;
    throw new Failure('failed', `not in the catalogue of scopes: ${unknown.join(' ')}${hint || `; ${list}`}`);
  }
  return scopes;
}

/** The scope sets of those names; throws Failure naming the missing ones. */
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

/** Reads a list to its end, page by page. */
export async function allPages<Item>(
  read: (from: ListPosition | undefined, size: number) => Awaitable<ListPage<Item>>,
  positionOf: (item: Item) => ListPosition,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  let from: ListPosition | undefined;
  for (;;) {
    const { items, after } = await read(from, pageSize);
    found.push(...items);
    const last = items.at(-1);
    if (!after || last === undefined) return found;
    from = positionOf(last);
  }
}

/** Every key, or every key of a user, newest first. */
export function allKeys(
  { records, now }: CommandContext,
  ownerId?: string,
): Promise<readonly ListedApiKey[]> {
  const filters: ApiKeyQuery['filters'] =
    ownerId === undefined ? [] : [{ field: 'created_by', operator: 'eq', value: ownerId }];
  const order = { sortBy: 'created', sortOrder: 'desc' } as const;
  return allPages(
    (from, size) => records.listApiKeys({ ...order, filters, from, size, now: now() }),
    ({ key }) => ({ value: key.created, id: key.id }),
  );
}

/** Every user, by name. */
export function allUsers({ records }: CommandContext): Promise<readonly UserRecord[]> {
  const order = { sortBy: 'username', sortOrder: 'asc', filters: [] } as const;
  return allPages(
    (from, size) => records.listUserRecords({ ...order, from, size }),
    ({ user }) => ({ value: user.username, id: user.id }),
  );
}

/** Every scope set, by name. */
export function allScopeSets({ records }: CommandContext): Promise<readonly ScopeSetRecord[]> {
  const order = { sortBy: 'name', sortOrder: 'asc', filters: [] } as const;
  return allPages(
    (from, size) => records.listScopeSets({ ...order, from, size }),
    ({ id, name }) => ({ value: name, id }),
  );
}
