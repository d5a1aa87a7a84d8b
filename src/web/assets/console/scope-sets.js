/** Named sets of scopes: a change of a set applies to everyone who has it. */

import { useContext, useState } from 'preact/hooks';
import { go } from './address.js';
import { inWords } from './api.js';
import { Question, Window } from './ask.js';
import { noCatalogue, useCatalogue } from './catalogue.js';
import { Console } from './context.js';
import { counted } from './counts.js';
import { Edited } from './edited.js';
import { Field, Form, sent } from './form.js';
import { List } from './list.js';
import { isPending, useAction, useLoaded } from './loaded.js';
import { Unread, useTitle } from './one.js';
import { ScopeChoices } from './scope-choices.js';
import { Copyable, html, Names, Problem } from './show.js';
import { isolated, listed, Text } from './text.js';
import { Ago, Both } from './times.js';

/** The set that always contains every scope. */
const builtIn = 'administrator';

const filters = [
  { name: 'name__contains', label: 'Name contains' },
  { name: 'scopes__contains', label: 'Has scope', type: /** @type {const} */ ('scope') },
];

export function ScopeSets() {
  const { root, may } = useContext(Console);
  const [isAdding, setAdding] = useState(false);
  /** @type {readonly import('./list.js').Column[]} */
  const columns = [
    {
      label: 'Name',
      sort: 'name',
      kind: 'wide',
      card: 'title',
      cell: (set) => html`<a href=${`${root}/scope-sets/${set.id}`}><${Text} of=${set.name} /></a>`,
    },
    {
      label: 'Description',
      kind: 'wide',
      card: 'line',
      isEmpty: (set) => set.description === '',
      cell: (set) => html`<${Text} of=${set.description} />`,
    },
    {
      label: 'Scopes',
      kind: 'wide',
      cell: (set) => html`<${Names} names=${set.scopes} most=${4} of=${set.name} />`,
    },
    {
      label: 'Changed',
      sort: 'updated',
      kind: 'time',
      card: 'fact',
      word: 'changed',
      cell: (set) =>
        set.id === builtIn ? html`<span class="quiet">built in</span>` : html`<${Ago} at=${set.updated} />`,
    },
  ];
  return html`
    <div class="heading">
      <h1>Scope sets</h1>
      ${may('scopesets:write') && html`<button type="button" class="button button-primary" onClick=${() => setAdding(true)}>New set</button>`}
    </div>
    <${List}
      path="/admin/scope-sets/"
      what=${['set', 'sets']}
      columns=${columns}
      filters=${filters}
      sort=${{ by: 'created', order: 'desc' }}
      empty=${html`<p>There are no scope sets yet.</p>`}
    />
    ${isAdding && html`<${NewSet} onClose=${() => setAdding(false)} />`}
  `;
}

/** @param {{ readonly onClose: () => void }} options */
function NewSet({ onClose }) {
  const { api, root } = useContext(Console);
  const catalogue = useCatalogue();
  const add = useAction(async (/** @type {Record<string, unknown>} */ body) => {
    const { value } = await inWords({ conflict: nameTaken(body) }, api.post('/admin/scope-sets/', body));
    onClose();
    go(`${root}/scope-sets/${value.id}`);
  });
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    const { text, all } = sent(event);
    void add.run({ name: text('name'), description: text('description'), scopes: all('scopes') });
  };
  return html`
    <${Window} title="New scope set" onClose=${onClose}>
      <${Form} onSubmit=${submit} error=${add.error}>
        <${Field} name="name" label="Name" required=${true} autofocus=${true} />
        <${Field} name="description" label="Description" />
        <${ScopeChoices} scopes=${api.scopes} catalogue=${catalogue ?? noCatalogue} chosen=${[]} none="You hold no scope that you could give." />
        ${add.error !== null && html`<${Problem} error=${add.error} />`}
        <div class="choices">
          <button type="submit" class="button button-primary" disabled=${add.isRunning}>Create set</button>
          <button type="button" class="button button-secondary" onClick=${onClose}>Cancel</button>
        </div>
      <//>
    <//>
  `;
}

/** @param {Record<string, unknown>} form */
const nameTaken = ({ name }) => html`There is already a set called <${Text} of=${name} />.`;

/** Words for the users who lose scopes that they don't hold otherwise. @param {any} users */
function losers(users) {
  if (users === null) return 'Every user and every key that has this set loses';
  if (users.total === 0) return 'Every key that has this set loses';
  return `${users.total.toLocaleString()} ${users.total === 1 ? 'user' : 'users'} and every key that has this set lose`;
}

const fieldNames = { name: 'Name', description: 'Description', scopes: 'Scopes' };

/** @param {{ readonly id: string }} options */
export function ScopeSet({ id }) {
  const { api, root, served, may } = useContext(Console);
  const [isRemoving, setRemoving] = useState(false);
  const [isSaved, setSaved] = useState(false);
  const set = useLoaded(async () => api.get(`/admin/scope-sets/${id}`), [id]);
  const maySeeUsers = served.has('users') && may('users:read');
  const findHolders = async () =>
    maySeeUsers ? (await api.get(`/admin/users/?size=100&scope_sets__contains=${id}`)).value : null;
  const holders = useLoaded(findHolders, [id]);
  const catalogue = useCatalogue();
  useTitle('set', set, set.value?.value.name);
  if (set.value === null || catalogue === null || isPending(holders))
    return html`<${Unread} kind="set" loaded=${set} />`;
  const { value, etag } = set.value;
  const isBuiltIn = id === builtIn;
  const mayWrite = may('scopesets:write') && !value.managed && !isBuiltIn;
  const offered = new Set([...value.scopes, ...api.scopes]);

  /** @param {boolean} isOurs */
  const show = (isOurs) => {
    setSaved(isOurs);
    set.reload();
  };

  /** Asks for confirmation of a change by which users lose scopes. @param {Record<string, unknown>} changes */
  const confirm = async ({ scopes }) => {
    const removed = value.scopes.filter(
      (/** @type {string} */ scope) => Array.isArray(scopes) && !scopes.includes(scope),
    );
    if (scopes === undefined || removed.length === 0) return null;
    const users = await findHolders().catch(() => null);
    return html`
      <p>
        ${losers(users)} <${Names} names=${removed} /> immediately, unless they hold ${removed.length === 1 ? 'it' : 'them'} otherwise.
      </p>
      ${
        users?.total > 0 &&
        html`<p class="hint">${listed(
          users.items.slice(0, 10).map((/** @type {any} */ { username }) => html`<${Text} of=${username} />`),
          ', ',
        )}${users.total > 10 ? ' and others' : ''}</p>`
      }
    `;
  };

  return html`
    <div class="heading">
      <h1><${Text} of=${value.name} /></h1>
      ${mayWrite && html`<button type="button" class="button button-danger" onClick=${() => setRemoving(true)}>Remove</button>`}
    </div>
    <dl class="facts">
      <div><dt>Id</dt><dd><${Copyable} text=${value.id} what="id" /></dd></div>
      ${
        !isBuiltIn &&
        html`
          <div><dt>Created</dt><dd><${Both} at=${value.created} /></dd></div>
          <div><dt>Changed</dt><dd><${Both} at=${value.updated} /></dd></div>
        `
      }
      ${
        holders.value !== null &&
        html`<div><dt>Users</dt><dd><a href=${`${root}/users?scope_sets__contains=${id}`}>${holders.value.total.toLocaleString()}</a></dd></div>`
      }
    </dl>
    ${isBuiltIn && html`<p class="hint">Built in: it always contains every scope, and everyone who has it is an administrator.</p>`}
    ${value.managed && html`<p class="hint">This set is kept in step with the configuration file, and is changed there.</p>`}
    ${
      mayWrite
        ? html`
            <${Edited}
              key=${etag}
              title="Details"
              path=${`/admin/scope-sets/${id}`}
              original=${value}
              etag=${etag}
              names=${fieldNames}
              isSaved=${isSaved}
              onSaved=${() => show(true)}
              onTaken=${() => show(false)}
              conflict=${nameTaken}
              confirm=${confirm}
              read=${(/** @type {import('./form.js').Sent} */ { text, all }) => ({ name: text('name'), description: text('description'), scopes: all('scopes') })}
            >
              <${Field} name="name" label="Name" value=${value.name} required=${true} />
              <${Field} name="description" label="Description" value=${value.description} />
              <${ScopeChoices}
                scopes=${offered}
                catalogue=${catalogue}
                chosen=${value.scopes}
                none="You hold no scope that you could give."
              />
            <//>
          `
        : html`<section><h2>Scopes</h2><p><${Names} names=${value.scopes} /></p></section>`
    }
    ${
      isRemoving &&
      html`
        <${Question}
          title=${html`Remove the set <${Text} of=${value.name} />?`}
          confirm="Remove for good"
          done=${`Removed ${isolated(value.name)}.`}
          onClose=${() => setRemoving(false)}
          onStale=${set.reload}
          act=${async () => {
            await api.delete(`/admin/scope-sets/${id}`, etag);
            go(`${root}/scope-sets`);
          }}
          count=${findHolders}
          version=${etag}
          words=${(/** @type {any} */ users) => html`
            It can only be removed once no user and no key has it.
            ${users?.total > 0 && ` ${counted(users.total, 'user has', 'users have')} it now.`}
          `}
        />
      `
    }
  `;
}
