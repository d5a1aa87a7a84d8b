/** The page of one record: its title, and the message in place of a record that can't be read. */

import { useContext, useEffect } from 'preact/hooks';
import { Console } from './context.js';
import { html, Problem } from './show.js';
import { isolated } from './text.js';

/** @typedef {{ readonly path: string, readonly label: string, readonly all: string }} Kind */

/** @type {Readonly<Record<'key' | 'user' | 'set', Kind>>} */
const kinds = {
  key: { path: 'api-keys', label: 'API keys', all: 'Go to the API keys' },
  user: { path: 'users', label: 'Users', all: 'Go to the users' },
  set: { path: 'scope-sets', label: 'Scope sets', all: 'Go to the scope sets' },
};

/**
 * Puts the name of the record into the title of the page, once it is known.
 * @param {keyof typeof kinds} kind
 * @param {import('./loaded.js').Loaded<any>} loaded
 * @param {string | undefined} name
 */
export function useTitle(kind, { error }, name) {
  const { title } = useContext(Console);
  const first = error?.code === 'not_found' ? 'Not found' : name;
  useEffect(() => {
    if (first !== undefined) document.title = `${isolated(first)} · ${kinds[kind].label} · ${title}`;
  }, [first]);
}

/** @param {{ readonly kind: keyof typeof kinds, readonly loaded: import('./loaded.js').Loaded<any> }} options */
export function Unread({ kind, loaded: { error, reload } }) {
  const { root } = useContext(Console);
  const { path, label, all } = kinds[kind];
  if (error === null) return html`<p role="status" class="quiet">Loading…</p>`;
  if (error.code !== 'not_found') return html`<h1>${label}</h1><${Problem} error=${error} again=${reload} />`;
  return html`
    <h1>Not found</h1>
    <p>This ${kind} doesn’t exist any more, or you may not see it.</p>
    <p><a href=${`${root}/${path}`}>${all}</a></p>
    <p class="hint">${`${error.status} ${error.code}`}${error.requestId && ` · request ${error.requestId}`}</p>
  `;
}
