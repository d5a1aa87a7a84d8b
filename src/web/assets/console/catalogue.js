/** The catalogue of scopes: a sentence for each, and the two groups that people tell apart. */

import { useContext } from 'preact/hooks';
import { Console } from './context.js';
import { isPending, useLoaded } from './loaded.js';

/**
 * @typedef {{ readonly scope: string, readonly description: string, readonly built_in: boolean }} Described
 * @typedef {ReadonlyMap<string, Described>} Catalogue
 */

/** Matches Postern's own scopes, for readers who may not see the catalogue. */
const ownScope = /^(apikeys|audit|scopesets|sessions|users):/;

/**
 * The catalogue by scope; empty if the caller may not see it, which needs `apikeys:write`.
 * @param {Pick<import('./context.js').ConsoleContext, 'api' | 'may'>} context
 * @returns {Promise<Catalogue>}
 */
export async function readCatalogue({ api, may }) {
  if (!may('apikeys:write')) return new Map();
  const { value } = await api.get('/admin/api-keys/scopes?hydrate=true');
  return new Map(value.map((/** @type {Described} */ described) => [described.scope, described]));
}

/** The catalogue of those who can't read one: scopes have their names alone. @type {Catalogue} */
export const noCatalogue = new Map();

/**
 * Hook: the catalogue; null until it is loaded, empty if it can't be read.
 * @returns {Catalogue | null}
 */
export function useCatalogue() {
  const context = useContext(Console);
  const catalogue = useLoaded(() => readCatalogue(context), []);
  return isPending(catalogue) ? null : (catalogue.value ?? noCatalogue);
}

/** True for a scope of Postern's own endpoints. @param {Catalogue} catalogue @param {string} scope */
const isOwn = (catalogue, scope) => catalogue.get(scope)?.built_in ?? ownScope.test(scope);

/**
 * The scopes in two groups, the service's first; an empty one is left out.
 * @param {Iterable<string>} scopes
 * @param {Catalogue} catalogue
 */
export function groupsOf(scopes, catalogue) {
  const sorted = [...scopes].sort();
  return [
    { title: 'The service', scopes: sorted.filter((scope) => !isOwn(catalogue, scope)) },
    { title: 'Postern itself', scopes: sorted.filter((scope) => isOwn(catalogue, scope)) },
  ].filter((group) => group.scopes.length > 0);
}
