/** The page of an API key: all that it may do, where it comes from, what came of it. */

import { useContext, useState } from 'preact/hooks';
import { go } from './address.js';
import { useCatalogue } from './catalogue.js';
import { Command, useRoutes } from './command.js';
import { Console } from './context.js';
import { DeleteKey } from './delete-key.js';
import { wordsOf } from './events.js';
import { isPending, useLoaded } from './loaded.js';
import { Unread, useTitle } from './one.js';
import { Person } from './person.js';
import { Described } from './scope-choices.js';
import { Copyable, html, State } from './show.js';
import { listed, Text } from './text.js';
import { Ago, Both, noUse } from './times.js';

/** @type {Readonly<Record<string, 'good' | 'off' | 'bad'>>} */
const stateKinds = { active: 'good', expired: 'off', suspended: 'bad' };

/** @param {{ readonly apiKey: any }} options */
export function KeyState({ apiKey: { status } }) {
  const why = status === 'suspended' ? 'Its owner is disabled' : null;
  return html`<${State} kind=${stateKinds[status]} title=${why}>${status}<//>`;
}

/** @param {{ readonly id: string }} options */
export function ApiKey({ id }) {
  const { api, root, served, may } = useContext(Console);
  const [isDeleting, setDeleting] = useState(false);
  const key = useLoaded(async () => (await api.get(`/admin/api-keys/${id}`)).value, [id]);
  const catalogue = useCatalogue();
  useTitle('key', key, key.value?.label);
  const children = useLoaded(
    async () => (await api.get(`/admin/api-keys/?size=${mostShown}&parent__eq=${id}`)).value,
    [id],
  );
  const routes = useRoutes();
  const { value } = key;
  if (value === null || catalogue === null || isPending(children) || isPending(routes))
    return html`<${Unread} kind="key" loaded=${key} />`;
  const maySeeAudit = served.has('audit') && may('audit:read');
  return html`
    <div class="heading">
      <h1><${Text} of=${value.label} /> <${KeyState} apiKey=${value} /></h1>
      ${may('apikeys:write') && html`<button type="button" class="button button-danger" onClick=${() => setDeleting(true)}>Delete key</button>`}
    </div>
    <dl class="facts">
      <div><dt>Begins with</dt><dd><code><${Text} of=${`${value.hint}…`} /></code></dd></div>
      <div><dt>Owner</dt><dd><${Person} user=${value.created_by} /></dd></div>
      <div><dt>Created</dt><dd><${Both} at=${value.created} /></dd></div>
      <div><dt>Expires</dt><dd><${Both} at=${value.expires} /></dd></div>
      <div><dt>Last used</dt><dd><${Both} at=${value.last_used} none=${`${noUse} (noted within a minute)`} /></dd></div>
      ${value.parent !== null && html`<div><dt>Made with</dt><dd><${Parent} id=${value.parent} /></dd></div>`}
      <div><dt>Id</dt><dd><${Copyable} text=${value.id} what="id" /></dd></div>
    </dl>
    ${value.status === 'suspended' && html`<p class="hint">Its owner is disabled: enabling the user again revives it.</p>`}
    <${Held} apiKey=${value} catalogue=${catalogue} />
    ${
      may('apikeys:write') &&
      html`
        <section aria-labelledby="call">
          <h2 id="call">Call the service</h2>
          <${Command} apiKey=${value} secret=${'"X-API-Key: $KEY"'} routes=${routes} />
        </section>
      `
    }
    ${children.value?.total > 0 && html`<${Children} page=${children.value} />`}
    ${maySeeAudit && html`<${Done} id=${id} />`}
    ${
      isDeleting &&
      html`<${DeleteKey} apiKey=${value} onClose=${() => setDeleting(false)} onDeleted=${() => go(`${root}/api-keys`)} />`
    }
  `;
}

/** The key that another was made with; its id if it has been deleted. @param {{ readonly id: string }} options */
function Parent({ id }) {
  const { api, root } = useContext(Console);
  const parent = useLoaded(async () => (await api.get(`/admin/api-keys/${id}`)).value, [id]);
  if (parent.value !== null)
    return html`<a href=${`${root}/api-keys/${id}`}><${Text} of=${parent.value.label} /></a>`;
  return html`<span class="quiet" title=${id}>${parent.error === null ? 'Loading…' : 'a key that was deleted'}</span>`;
}

/** @param {{ readonly apiKey: any, readonly catalogue: import('./catalogue.js').Catalogue }} options */
function Held({ apiKey: { scopes, scope_sets: sets }, catalogue }) {
  const { root, served, may } = useContext(Console);
  const isLinked = served.has('scope_sets') && may('scopesets:read');
  const all = new Set([...scopes, ...sets.flatMap((/** @type {any} */ set) => set.scopes)]);
  const setOf = (/** @type {any} */ set) => {
    const name = html`<${Text} of=${set.name} />`;
    return html`the set ${isLinked ? html`<a href=${`${root}/scope-sets/${set.id}`}>${name}</a>` : name}`;
  };
  const sourcesOf = (/** @type {string} */ scope) => [
    ...(scopes.includes(scope) ? ['given directly'] : []),
    ...sets.filter((/** @type {any} */ set) => set.scopes.includes(scope)).map(setOf),
  ];
  return html`
    <section aria-labelledby="held">
      <h2 id="held">What it may do</h2>
      ${
        all.size === 0
          ? html`<p class="quiet">Nothing: its sets have no scopes now.</p>`
          : html`
              <div class="table-frame">
                <table>
                  <thead><tr><th scope="col">Scope</th><th scope="col">Comes from</th></tr></thead>
                  <tbody>
                    ${[...all].sort().map(
                      (scope) => html`
                        <tr key=${scope}>
                          <td class="card-title"><div><${Described} scope=${scope} catalogue=${catalogue} /></div></td>
                          <td class="card-fact"><div>${listed(sourcesOf(scope), '; ')}</div></td>
                        </tr>
                      `,
                    )}
                  </tbody>
                </table>
              </div>
            `
      }
      <p class="hint">As far as its owner holds it now: what the owner loses, the key loses.</p>
    </section>
  `;
}

/** Maximum number of keys and events on the page. */
const mostShown = 10;

/** The keys that were made with a key. @param {{ readonly page: any }} options */
function Children({ page: { items, total } }) {
  const { root } = useContext(Console);
  const links = items.map(
    (/** @type {any} */ key) =>
      html`<a href=${`${root}/api-keys/${key.id}`}><${Text} of=${key.label} /></a>${key.status !== 'active' && html` <${KeyState} apiKey=${key} />`}`,
  );
  const rest = total - items.length;
  return html`
    <section aria-labelledby="children">
      <h2 id="children">Made with it</h2>
      <p>${listed(links, ', ')}${rest > 0 && ` and ${rest.toLocaleString()} more`}</p>
    </section>
  `;
}

/** The events that a key caused, and links to all about it. @param {{ readonly id: string }} options */
function Done({ id }) {
  const { api, root } = useContext(Console);
  const events = useLoaded(
    async () => (await api.get(`/admin/audit/?size=${mostShown}&actor__eq=${id}`)).value.items,
    [id],
  );
  return html`
    <section aria-labelledby="done">
      <h2 id="done">What it did</h2>
      ${isPending(events) && html`<p role="status" class="quiet">Loading…</p>`}
      ${events.value?.length === 0 && html`<p class="quiet">Nothing that the audit records; calls of the service are in the log.</p>`}
      ${
        events.value?.length > 0 &&
        html`
          <ul class="plain">
            ${events.value?.map((/** @type {any} */ event) => html`<li key=${event.id}>${wordsOf(event.event)}${event.target?.label && html`: <${Text} of=${event.target.label} />`} <span class="quiet"><${Ago} at=${event.time} /></span></li>`)}
          </ul>
        `
      }
      ${
        !isPending(events) &&
        html`
          <p class="links">
            <a href=${`${root}/audit?actor__eq=${id}`}>All that it did</a>
            <a href=${`${root}/audit?target__eq=${id}`}>Changes to it</a>
          </p>
        `
      }
    </section>
  `;
}
