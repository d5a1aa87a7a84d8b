/** API keys: list, mint, delete. */

import { useContext, useState } from 'preact/hooks';
import { Question } from './ask.js';
import { Console } from './context.js';
import { List } from './list.js';
import { MintKey } from './mint-key.js';
import { Folded, html, Name, Names, Several, State, Time } from './show.js';
import { Text } from './text.js';

/** @type {Readonly<Record<string, 'good' | 'off' | 'bad'>>} */
const stateKinds = { active: 'good', expired: 'off', suspended: 'bad' };

const filters = [
  { name: 'label__contains', label: 'Label contains' },
  {
    name: 'status__eq',
    label: 'Status',
    choices: /** @type {[string, string][]} */ ([
      ['active', 'Active'],
      ['expired', 'Expired'],
      ['suspended', 'Suspended'],
    ]),
  },
  { name: 'scopes__contains', label: 'Has scope', type: /** @type {const} */ ('scope') },
  { name: 'created_by__eq', label: 'Owner', type: /** @type {const} */ ('user') },
];

export function ApiKeys() {
  const { may } = useContext(Console);
  const [version, setVersion] = useState(0);
  const [isMinting, setMinting] = useState(false);
  const [deleted, setDeleted] = useState(/** @type {any} */ (null));
  const mayWrite = may('apikeys:write');
  const columns = [
    {
      label: 'Label',
      sort: 'label',
      kind: 'wide',
      cell: (/** @type {any} */ key) =>
        html`<strong><${Text} of=${key.label} /></strong> <code class="quiet"><${Text} of=${`${key.hint}…`} /></code>`,
    },
    {
      label: 'Owner',
      kind: 'name',
      cell: (/** @type {any} */ key) => html`<${Person} user=${key.created_by} />`,
    },
    {
      label: 'Scopes',
      kind: 'wide',
      cell: (/** @type {any} */ key) => html`<${Several} items=${held(key)} most=${4} of=${key.label} />`,
    },
    {
      label: 'Status',
      kind: 'tight',
      cell: (/** @type {any} */ key) => html`<${State} kind=${stateKinds[key.status]}>${key.status}<//>`,
    },
    {
      label: 'Created',
      sort: 'created',
      cell: (/** @type {any} */ key) => html`<${Time} at=${key.created} />`,
    },
    {
      label: 'Expires',
      sort: 'expires',
      cell: (/** @type {any} */ key) => html`<${Time} at=${key.expires} />`,
    },
    {
      label: 'Last used',
      sort: 'last_used',
      cell: (/** @type {any} */ key) => html`<${Time} at=${key.last_used} />`,
    },
    ...(mayWrite
      ? [
          {
            label: 'Delete',
            kind: 'tight',
            cell: (/** @type {any} */ key) =>
              html`<button type="button" class="small" onClick=${() => setDeleted(key)}>Delete<span class="unseen"> <${Text} of=${key.label} /></span></button>`,
          },
        ]
      : []),
  ];
  const mint = html`<button type="button" class="button button-primary" onClick=${() => setMinting(true)}>New key</button>`;
  return html`
    <div class="heading">
      <h1>API keys</h1>
      ${mayWrite && mint}
    </div>
    <${List}
      path="/api/admin/api-keys/"
      what=${['key', 'keys']}
      columns=${columns}
      filters=${filters}
      sort=${{ by: 'created', order: 'desc' }}
      version=${version}
      empty=${html`
        <p>There are no API keys yet.</p>
        <p class="hint">Programs call the service with a key, in the header <code>X-API-Key</code>.</p>
      `}
    />
    ${isMinting && html`<${MintKey} onClose=${() => setMinting(false)} onMinted=${() => setVersion(version + 1)} />`}
    ${deleted !== null && html`<${DeleteKey} apiKey=${deleted} onClose=${() => setDeleted(null)} onDeleted=${() => setVersion(version + 1)} />`}
  `;
}

/** The scope sets of a key with their current scopes, then its own scopes. @param {any} key */
function held({ scope_sets: sets, scopes }) {
  return [
    ...sets.map(
      (/** @type {any} */ set) =>
        html`<${Folded} label=${html`<${Text} of=${set.name} />`}><${Names} names=${set.scopes} /><//>`,
    ),
    ...scopes.map((/** @type {string} */ scope) => html`<${Name} name=${scope} />`),
  ];
}

/** The user of a key or session. @param {{ readonly user: any }} options */
export function Person({ user }) {
  const { root, served, may } = useContext(Console);
  if (user === null) return html`<span class="quiet">no one</span>`;
  if (user.username === null) return html`<span title=${user.id}>removed user</span>`;
  const name = html`<${Text} of=${user.username} />`;
  if (!served.has('users') || !may('users:read')) return html`<span title=${user.id}>${name}</span>`;
  return html`<a href=${`${root}/users/${user.id}`}>${name}</a>`;
}

/** @param {{ readonly apiKey: any, readonly onClose: () => void, readonly onDeleted: () => void }} options */
function DeleteKey({ apiKey, onClose, onDeleted }) {
  const { api } = useContext(Console);
  const [withChildren, setWithChildren] = useState(false);
  return html`
    <${Question}
      title=${html`Delete the key “<${Text} of=${apiKey.label} />”?`}
      confirm=${withChildren ? 'Delete it and its descendants' : 'Delete 1 key'}
      onClose=${onClose}
      onStale=${onDeleted}
      act=${async () => {
        await api.delete(`/api/admin/api-keys/${apiKey.id}${withChildren ? '?children=true' : ''}`);
        onDeleted();
      }}
    >
      <p>Requests with <code>${apiKey.hint}…</code> are refused immediately, and its open connections are closed.</p>
      <label class="choice">
        <input type="checkbox" checked=${withChildren} onChange=${() => setWithChildren(!withChildren)} />
        <span>Also delete every key that was made with it, and every key made with those</span>
      </label>
    <//>
  `;
}
