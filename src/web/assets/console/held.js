/** The rights of a user, and those that come only with a sign-in through an identity provider. */

/** @typedef {{ readonly id: string, readonly scopes: readonly string[] }} ScopeSet */
/**
 * A user as the API shows it.
 * @typedef {{
 *   readonly scopes: readonly string[],
 *   readonly scope_sets: readonly string[],
 *   readonly provider_scopes: readonly string[],
 *   readonly provider_scope_sets: readonly string[],
 *   readonly effective_scopes: readonly string[],
 *   readonly identities: readonly { readonly provider: string | null }[],
 * }} User
 */

/**
 * Every scope set, read page by page; empty if the caller may not see them.
 * @param {import('./context.js').ConsoleContext} context
 * @returns {Promise<readonly any[]>}
 */
export async function visibleSets({ api, served, may }) {
  if (!served.has('scope_sets') || !may('scopesets:read')) return [];
  const sets = [];
  for (let cursor = ''; ; ) {
    const { value } = await api.get(`/admin/scope-sets/?size=100&sort_by=name&sort_order=asc${cursor}`);
    sets.push(...value.items);
    if (value.next_page === null) return sets;
    cursor = `&cursor=${value.next_page}`;
  }
}

/**
 * True if the set of that id has the scope; undefined if the caller may not see the set.
 * @param {readonly ScopeSet[]} sets @param {string} id @param {string} scope
 */
export function gives(sets, id, scope) {
  return id === 'administrator' || sets.find((set) => set.id === id)?.scopes.includes(scope);
}

/**
 * Scopes that a user holds only by a provider; without those that a set unknown to the caller may also give.
 * @param {User} user @param {readonly ScopeSet[]} sets
 */
export function onlyGranted(user, sets) {
  return user.effective_scopes.filter(
    (scope) =>
      !user.scopes.includes(scope) && user.scope_sets.every((id) => gives(sets, id, scope) === false),
  );
}

/**
 * The titles of the providers through which a user signs in: `Staff or Partners`.
 * @param {User} user
 * @param {ReadonlyMap<string, string>} providers Titles by name.
 */
export function providersOf({ identities }, providers) {
  const names = [...new Set(identities.map(({ provider }) => provider).filter((name) => name !== null))];
  return names.length === 0
    ? 'an identity provider'
    : names.map((name) => providers.get(name) ?? name).join(' or ');
}
