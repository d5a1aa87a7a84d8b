/** API keys: found, minted, shown once, deleted. */

import { useContext, useState } from 'preact/hooks';
import { Question, Window } from './ask.js';
import { Console } from './context.js';
import { Choices, Field, scopeChoices, sent } from './form.js';
import { List } from './list.js';
import { useAction, useLoaded } from './loaded.js';
import { Copyable, html, Names, Problem, State, Time } from './show.js';

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
  { name: 'scopes__contains', label: 'Has scope' },
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
        html`<strong>${key.label}</strong> <code class="quiet">${key.hint}…</code>`,
    },
    {
      label: 'Owner',
      kind: 'name',
      cell: (/** @type {any} */ key) => html`<${Person} user=${key.created_by} />`,
    },
    {
      label: 'Scopes',
      kind: 'wide',
      cell: (/** @type {any} */ key) =>
        html`<${Names} names=${[...key.scope_sets.map((/** @type {any} */ set) => set.name), ...key.scopes]} most=${4} />`,
    },
    {
      label: 'Status',
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
              html`<button type="button" class="small" onClick=${() => setDeleted(key)}>Delete<span class="unseen"> ${key.label}</span></button>`,
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

/** Who made a key or began a session. @param {{ readonly user: any }} options */
export function Person({ user }) {
  const { root, served, may } = useContext(Console);
  if (user === null) return html`<span class="quiet">nobody</span>`;
  const name = user.username ?? 'removed user';
  if (!served.has('users') || !may('users:read') || user.username === null)
    return html`<span title=${user.id}>${name}</span>`;
  return html`<a href=${`${root}/users/${user.id}`}>${name}</a>`;
}

/**
 * @param {{ readonly onClose: () => void, readonly onMinted: () => void, readonly owner?: { id: string, username: string } }} options
 */
export function MintKey({ onClose, onMinted, owner }) {
  const { api } = useContext(Console);
  const [minted, setMinted] = useState(/** @type {any} */ (null));
  const [isScopeless, setScopeless] = useState(false);
  const scopes = useLoaded(async () => {
    const catalogue = /** @type {string[]} */ ((await api.get('/api/admin/api-keys/scopes')).value);
    return catalogue.filter((scope) => api.scopes.has(scope));
  }, []);
  const mint = useAction(async (/** @type {object} */ body) => {
    const path = owner === undefined ? '/api/admin/api-keys/' : `/api/admin/users/${owner.id}/api-keys`;
    setMinted((await api.post(path, body)).value);
    onMinted();
  });
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    const { text, all } = sent(event);
    const expires = text('expires');
    setScopeless(all('scopes').length === 0);
    if (all('scopes').length === 0) return;
    void mint.run({
      label: text('label'),
      scopes: all('scopes'),
      ...(expires === '' ? {} : { expires: new Date(expires).toISOString() }),
    });
  };
  if (minted !== null) return html`<${MintedKey} minted=${minted} onClose=${onClose} />`;
  const title = owner === undefined ? 'New API key' : `New API key for ${owner.username}`;
  return html`
    <${Window} title=${title} onClose=${onClose}>
      <form onSubmit=${submit}>
        <${Field} name="label" label="Label" hint="What uses it, such as: nightly export." required=${true} autofocus=${true} />
        ${scopes.error !== null && html`<${Problem} error=${scopes.error} again=${scopes.reload} />`}
        <${Choices}
          name="scopes"
          label="Scopes"
          choices=${scopeChoices(scopes.value ?? [])}
          chosen=${[]}
          none=${scopes.isLoading ? 'Loading…' : 'You hold no scope that a key could have.'}
        />
        ${isScopeless && html`<div class="notice notice-problem" role="alert"><p>Choose at least one scope: a key without any could do nothing.</p></div>`}
        <${Field} name="expires" label="Expires" type="datetime-local" hint="Left empty: never, or as late as is allowed." />
        ${mint.error !== null && html`<${Problem} error=${mint.error} />`}
        <div class="choices">
          <button type="submit" class="button button-primary" disabled=${mint.isRunning}>Create key</button>
          <button type="button" class="button button-secondary" onClick=${onClose}>Cancel</button>
        </div>
      </form>
    <//>
  `;
}

/** @param {{ readonly minted: any, readonly onClose: () => void }} options */
function MintedKey({ minted, onClose }) {
  const { origin } = useContext(Console);
  const curl = `curl ${origin}/ \\\n  -H 'X-API-Key: ${minted.key}'`;
  return html`
    <${Window} title="Your new key" onClose=${onClose} isWide=${true}>
      <p><strong>${minted.label}</strong>: copy it now. It is not shown again, and nobody can look it up.</p>
      <${Copyable} text=${minted.key} what="key" long=${true} />
      <p>This calls the service with it; put the path of a resource behind the address:</p>
      <${Copyable} text=${curl} what="command" long=${true} />
      <div class="choices">
        <button type="button" class="button button-primary" onClick=${onClose}>I have copied it</button>
      </div>
    <//>
  `;
}

/** @param {{ readonly apiKey: any, readonly onClose: () => void, readonly onDeleted: () => void }} options */
function DeleteKey({ apiKey, onClose, onDeleted }) {
  const { api } = useContext(Console);
  const [withChildren, setWithChildren] = useState(false);
  return html`
    <${Question}
      title=${`Delete the key “${apiKey.label}”?`}
      confirm=${withChildren ? 'Delete it and its descendants' : 'Delete 1 key'}
      onClose=${onClose}
      act=${async () => {
        await api.delete(`/api/admin/api-keys/${apiKey.id}${withChildren ? '?children=true' : ''}`);
        onDeleted();
      }}
    >
      <p>Whatever uses <code>${apiKey.hint}…</code> is refused from its next request on, and what it has open ends.</p>
      <label class="choice">
        <input type="checkbox" checked=${withChildren} onChange=${() => setWithChildren(!withChildren)} />
        <span>Also delete every key that was made with it, and every key made with those</span>
      </label>
    <//>
  `;
}
