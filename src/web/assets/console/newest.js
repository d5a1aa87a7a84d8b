/** The newest keys and sessions of a user, with links to all. */

import { useContext } from 'preact/hooks';
import { Console } from './context.js';
import { KeyState } from './key.js';
import { useLoaded } from './loaded.js';
import { browserOf } from './sessions.js';
import { html, State } from './show.js';
import { Text } from './text.js';
import { Ago, LastUse, noUse } from './times.js';

/** Maximum number of each. */
const mostShown = 3;

/** @typedef {{ readonly keys: any, readonly sessions: any }} Newest */

/**
 * Hook: the first page of each list; null for one that the caller may not see.
 * @param {string} id
 * @returns {import('./loaded.js').Loaded<Newest>}
 */
export function useNewest(id) {
  const { api, served, may } = useContext(Console);
  /** @param {boolean} maySee @param {string} path */
  const page = async (maySee, path) =>
    maySee ? (await api.get(`${path}=${id}&size=${mostShown}`)).value : null;
  return useLoaded(async () => {
    const [keys, sessions] = await Promise.all([
      page(may('apikeys:read'), '/admin/api-keys/?created_by__eq'),
      page(served.has('admin_sessions') && may('sessions:read'), '/admin/sessions/?user__eq'),
    ]);
    return { keys, sessions };
  }, [id]);
}

/** @param {{ readonly user: any, readonly newest: Newest }} options */
export function NewestOf({ user, newest: { keys, sessions } }) {
  const { root } = useContext(Console);
  return html`
    <div class="side-by-side">
      ${
        keys !== null &&
        html`<${Some} id="keys" title="API keys" page=${keys} all="keys" href=${`${root}/api-keys?created_by__eq=${user.id}`} row=${keyRow(root)} />`
      }
      ${
        sessions !== null &&
        user.kind === 'person' &&
        html`<${Some} id="sessions" title="Sessions" page=${sessions} all="sessions" href=${`${root}/sessions?user__eq=${user.id}`} row=${sessionRow} />`
      }
    </div>
  `;
}

/**
 * @param {{
 *   readonly id: string,
 *   readonly title: string,
 *   readonly page: any,
 *   readonly all: string,
 *   readonly href: string,
 *   readonly row: (item: any) => unknown,
 * }} options
 */
function Some({ id, title, page: { items, total }, all, href, row }) {
  return html`
    <section aria-labelledby=${id}>
      <h2 id=${id}>${title}</h2>
      ${items.length === 0 && html`<p class="quiet">None.</p>`}
      ${items.length > 0 && html`<ul class="plain rows">${items.map((/** @type {any} */ item) => html`<li key=${item.id}>${row(item)}</li>`)}</ul>`}
      ${items.length > 0 && html`<p><a href=${href}>All ${total > mostShown && `${total.toLocaleString()} `}${all}</a></p>`}
    </section>
  `;
}

/** @param {string} root */
const keyRow = (root) => (/** @type {any} */ key) =>
  html`
  <a href=${`${root}/api-keys/${key.id}`}><${Text} of=${key.label} /></a>
  ${key.status !== 'active' && html`<${KeyState} apiKey=${key} />`}
  <span class="quiet">${key.last_used !== null && 'used '}<${LastUse} at=${key.last_used} none=${noUse} /></span>
`;

/** @param {any} session */
const sessionRow = (session) => html`
  <span title=${session.user_agent}><${Text} of=${browserOf(session.user_agent)} /></span>
  <code class="quiet">${session.address}</code>
  ${session.current && html`<${State} kind="good">this browser<//>`}
  <span class="quiet">used <${Ago} at=${session.last_used} /></span>
`;
