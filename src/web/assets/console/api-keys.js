/** API keys: list, mint, delete. */

import { useContext, useState } from 'preact/hooks';
import { Console } from './context.js';
import { DeleteKey } from './delete-key.js';
import { KeyState } from './key.js';
import { List } from './list.js';
import { MintKey } from './mint-key.js';
import { Person } from './person.js';
import { Folded, html, Name, Names, RowAction, Several } from './show.js';
import { Text } from './text.js';
import { Ago, LastUse } from './times.js';

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

/** Maximum number of scopes and sets in a row; the key's page has all. */
const mostShown = 2;

/** @param {string} root @returns {readonly import('./list.js').Column[]} */
const columnsIn = (root) => [
  {
    label: 'Label',
    sort: 'label',
    kind: 'wide',
    card: 'title',
    cell: (key) => html`
      <a class="title" href=${`${root}/api-keys/${key.id}`}><strong><${Text} of=${key.label} /></strong></a>${' '}
      <code class="quiet"><${Text} of=${`${key.hint}…`} /></code>
      ${key.status !== 'active' && html` <${KeyState} apiKey=${key} />`}
    `,
  },
  { label: 'Owner', kind: 'name', card: 'fact', cell: (key) => html`<${Person} user=${key.created_by} />` },
  {
    label: 'Scopes',
    kind: 'wide',
    card: 'line',
    cell: (key) => html`<${Several} items=${held(key)} most=${mostShown} of=${key.label} />`,
  },
  {
    label: 'Created',
    sort: 'created',
    kind: 'time',
    card: 'none',
    cell: (key) => html`<${Ago} at=${key.created} />`,
  },
  {
    label: 'Expires',
    sort: 'expires',
    kind: 'time',
    card: 'fact',
    word: 'expires',
    isEmpty: (key) => key.expires === null,
    cell: (key) => html`<${Ago} at=${key.expires} isEnd=${true} />`,
  },
  {
    label: 'Last used',
    sort: 'last_used',
    kind: 'time',
    card: 'fact',
    word: 'used',
    isEmpty: (key) => key.last_used === null,
    cell: (key) => html`<${LastUse} at=${key.last_used} />`,
  },
];

export function ApiKeys() {
  const { area, root, may } = useContext(Console);
  const [version, setVersion] = useState(0);
  const [isLoaded, setLoaded] = useState(false);
  const [isMinting, setMinting] = useState(false);
  const [deleted, setDeleted] = useState(/** @type {any} */ (null));
  const mayWrite = may('apikeys:write');
  const columns = mayWrite
    ? [
        ...columnsIn(root),
        {
          label: 'Delete',
          kind: /** @type {const} */ ('action'),
          card: /** @type {const} */ ('action'),
          cell: (/** @type {any} */ key) =>
            html`<${RowAction} word="Delete" of=${key.label} isDelete=${true} act=${() => setDeleted(key)} />`,
        },
      ]
    : columnsIn(root);
  const mint = html`<button type="button" class="button button-primary" onClick=${() => setMinting(true)}>New key</button>`;
  const reload = () => setVersion(version + 1);
  return html`
    <div class="heading">
      <h1>API keys</h1>
      ${mayWrite && mint}
    </div>
    <${List}
      path="/admin/api-keys/"
      what=${['key', 'keys']}
      columns=${columns}
      filters=${filters}
      sort=${{ by: 'created', order: 'desc' }}
      version=${version}
      onLoaded=${() => setLoaded(true)}
      empty=${html`
        <p>There are no API keys yet.</p>
        <p class="hint">A program calls the service with a key instead of a person’s sign-in: a nightly export, a partner’s system, a script.</p>
        ${mayWrite && html`<p>${mint}</p>`}
      `}
    />
    <p class="hint" hidden=${!isLoaded}>
      Programs send their key in the header <code>X-API-Key</code>.${' '}
      <a href=${`${area}/openapi.json`}>The API of Postern itself</a> is described as OpenAPI.
    </p>
    ${isMinting && html`<${MintKey} onClose=${() => setMinting(false)} onMinted=${reload} />`}
    ${deleted !== null && html`<${DeleteKey} apiKey=${deleted} onClose=${() => setDeleted(null)} onDeleted=${reload} />`}
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
