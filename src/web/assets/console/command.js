/** A command that calls the service with a key, by the routes and by what the key may do. */

import { useContext } from 'preact/hooks';
import { Console } from './context.js';
import { useLoaded } from './loaded.js';
import { Copyable, html, Problem } from './show.js';

/**
 * @typedef {{
 *   readonly origin?: string,
 *   readonly path: string,
 *   readonly exact: boolean,
 *   readonly scopes: Readonly<Record<string, readonly string[]>>,
 * }} Route
 * @typedef {{ readonly method: string, readonly path: string, readonly origin?: string | undefined }} Call
 */

/** Reads of Postern's own API, below its path, by the scope that each takes, with the key of `endpoints` that turns it off. */
const ownReads = /** @type {const} */ ([
  ['apikeys:read', '/admin/api-keys/', null],
  ['users:read', '/admin/users/', 'users'],
  ['scopesets:read', '/admin/scope-sets/', 'scope_sets'],
  ['sessions:read', '/admin/sessions/', 'admin_sessions'],
  ['audit:read', '/admin/audit/', 'audit'],
]);

/** The method that stands for an entry of a route's scopes. @param {string} entry */
const methodOf = (entry) => ({ '*': 'GET', read: 'GET', write: 'POST' })[entry] ?? entry;

/**
 * A call that a key may make: of the first route that lets it read, else of the first that lets it do anything; null for none.
 * @param {readonly Route[]} routes
 * @param {ReadonlySet<string>} held The scopes of the key.
 * @returns {Call | null}
 */
export function callOf(routes, held) {
  // A wildcard is no address.
  const callable = routes.filter(({ origin }) => origin === undefined || !origin.includes('*'));
  const calls = callable.flatMap(({ origin, path, exact, scopes }) =>
    Object.entries(scopes)
      // An entry of its own goes before `read` and `write`.
      .filter(([entry, needed]) => {
        const method = methodOf(entry);
        return (entry === method || scopes[method] === undefined) && needed.every((scope) => held.has(scope));
      })
      .map(([entry]) => ({
        method: methodOf(entry),
        path: exact || path === '/' ? path : `${path}/`,
        ...(origin !== undefined && { origin }),
      })),
  );
  return calls.find(({ method }) => method === 'GET') ?? calls[0] ?? null;
}

/**
 * A text as one word of a shell, in quotes if it has characters that a shell might not take as they are.
 * @param {string} text
 */
export const shellWord = (text) =>
  /^[\w./:@%+,~-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** All scopes of a key. @param {any} key */
const scopesOf = ({ scopes, scope_sets: sets }) =>
  new Set([...scopes, ...sets.flatMap((/** @type {any} */ set) => set.scopes)]);

/**
 * Hook: the routes that keys can call; none for who may not make keys, and doesn't see them.
 * @returns {import('./loaded.js').Loaded<readonly Route[]>}
 */
export function useRoutes() {
  const { api, may } = useContext(Console);
  return useLoaded(
    async () => (may('apikeys:write') ? (await api.get('/admin/api-keys/routes')).value : []),
    [],
  );
}

/**
 * The command, with `secret` in place of the key.
 * @param {{
 *   readonly apiKey: any,
 *   readonly secret: string,
 *   readonly routes: import('./loaded.js').Loaded<readonly Route[]>,
 * }} options
 */
export function Command({ apiKey, secret, routes }) {
  const { api, origin, served } = useContext(Console);
  if (routes.error !== null) return html`<${Problem} error=${routes.error} again=${routes.reload} />`;
  if (routes.value === null) return html`<p role="status" class="quiet">Loading…</p>`;
  const held = scopesOf(apiKey);
  const call = callOf(routes.value, held);
  const own = ownReads.find(
    ([scope, , endpoint]) => held.has(scope) && (endpoint === null || served.has(endpoint)),
  );
  const found = call ?? (own === undefined ? null : { method: 'GET', path: api.base + own[1] });
  if (found === null)
    return html`<p>No route of the service takes this key: it lacks the scopes that they need.</p>`;
  const method = found.method === 'GET' ? '' : `-X ${shellWord(found.method)} `;
  const command = `curl ${method}${shellWord((call?.origin ?? origin) + found.path)} \\\n  -H ${secret}`;
  return html`
    <p>
      ${call === null ? 'No route of the service takes this key. It can call Postern itself:' : 'This calls the service with it; append the path you want to call:'}
    </p>
    <${Copyable} text=${command} what="command" long=${true} />
  `;
}
