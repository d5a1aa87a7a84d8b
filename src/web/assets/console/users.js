/** People and services that have an account. */

import { useContext, useState } from 'preact/hooks';
import { go } from './address.js';
import { inWords } from './api.js';
import { Window } from './ask.js';
import { Console } from './context.js';
import { counted } from './counts.js';
import { Field, Form, sent } from './form.js';
import { visibleSets } from './held.js';
import { List } from './list.js';
import { isPending, useAction, useLoaded } from './loaded.js';
import { html, Problem } from './show.js';
import { listed, Text } from './text.js';
import { Ago } from './times.js';
import { stateOf, UserState } from './user-state.js';

const yesNo = (/** @type {string} */ yes, /** @type {string} */ no) =>
  /** @type {[string, string][]} */ ([
    ['true', yes],
    ['false', no],
  ]);

const filters = [
  { name: 'username__contains', label: 'Name contains' },
  { name: 'email__contains', label: 'Email contains' },
  {
    name: 'kind__eq',
    label: 'Kind',
    choices: /** @type {[string, string][]} */ ([
      ['person', 'Person'],
      ['service', 'Service'],
    ]),
  },
  { name: 'disabled__eq', label: 'State', choices: yesNo('Disabled', 'Enabled') },
  { name: 'managed__eq', label: 'Managed by', choices: yesNo('Configuration', 'Console') },
  { name: 'scope_sets__contains', label: 'Has set', type: /** @type {const} */ ('set') },
];

/**
 * @param {string} root
 * @param {readonly any[]} sets
 * @returns {readonly import('./list.js').Column[]}
 */
const columnsWith = (root, sets) => [
  {
    label: 'Name',
    sort: 'username',
    kind: 'wide',
    card: 'title',
    cell: (user) => html`
        <a class="title" href=${`${root}/users/${user.id}`}><${Text} of=${user.username} /></a>
        ${user.display_name && html` <span class="quiet"><${Text} of=${user.display_name} /></span>`}
        ${stateOf(user) !== 'enabled' && html` <${UserState} user=${user} />`}
      `,
  },
  {
    label: 'Email',
    card: 'fact',
    isEmpty: (user) => user.email === null,
    cell: (user) => html`<${Text} of=${user.email ?? ''} />`,
  },
  { label: 'Kind', kind: 'tight', card: 'fact', cell: (user) => user.kind },
  {
    label: 'Scopes',
    kind: 'wide',
    card: 'fact',
    word: 'has',
    cell: (user) => heldBy(user, sets),
  },
  {
    label: 'Created',
    sort: 'created',
    kind: 'time',
    card: 'none',
    cell: (user) => html`<${Ago} at=${user.created} />`,
  },
  {
    label: 'Last sign-in',
    sort: 'last_login',
    kind: 'time',
    card: 'fact',
    word: 'last signed in',
    isEmpty: (user) => user.last_login === null,
    cell: (user) => html`<${Ago} at=${user.last_login} />`,
  },
];

/** Maximum number of sets in a row; the user's page has all. */
const mostShown = 2;

/**
 * The sets of a user by name, then the number of single scopes, with those that a sign-in through a provider adds.
 * @param {any} user
 * @param {readonly any[]} sets Those that the reader may see.
 */
function heldBy(user, sets) {
  const ids = [...new Set([...user.scope_sets, ...user.provider_scope_sets])];
  const scopes = new Set([...user.scopes, ...user.provider_scopes]).size;
  const nameOf = (/** @type {string} */ id) =>
    id === 'administrator' ? id : sets.find((set) => set.id === id)?.name;
  const shown = ids.map(nameOf).filter(Boolean).slice(0, mostShown);
  const more = shown.length > 0 ? 'more ' : '';
  const parts = [
    ...shown.map((name) => html`<${Text} of=${name} />`),
    counted(ids.length - shown.length, `${more}set`, `${more}sets`),
    counted(scopes, 'scope', 'scopes'),
  ].filter(Boolean);
  return listed(parts, ', ') ?? html`<span class="quiet">no scopes</span>`;
}

export function Users() {
  const context = useContext(Console);
  const { root, may } = context;
  const [isAdding, setAdding] = useState(false);
  const sets = useLoaded(() => visibleSets(context), []);
  return html`
    <div class="heading">
      <h1>Users</h1>
      ${may('users:write') && html`<button type="button" class="button button-primary" onClick=${() => setAdding(true)}>New user</button>`}
    </div>
    <${List}
      path="/admin/users/"
      what=${['user', 'users']}
      columns=${columnsWith(root, sets.value ?? [])}
      isReady=${!isPending(sets)}
      filters=${filters}
      sort=${{ by: 'created', order: 'desc' }}
      empty=${html`<p>There are no users.</p>`}
    />
    ${isAdding && html`<${NewUser} onClose=${() => setAdding(false)} />`}
  `;
}

/** @param {{ readonly onClose: () => void }} options */
function NewUser({ onClose }) {
  const { api, root } = useContext(Console);
  const add = useAction(async (/** @type {Record<string, unknown>} */ body) => {
    const { value } = await inWords(
      { conflict: html`There is already a user called <${Text} of=${body.username} />.` },
      api.post('/admin/users/', body),
    );
    onClose();
    go(`${root}/users/${value.id}`);
  });
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    const { text } = sent(event);
    void add.run({
      username: text('username'),
      kind: text('kind'),
      display_name: text('display_name') || null,
      email: text('email') || null,
    });
  };
  return html`
    <${Window} title="New user" onClose=${onClose}>
      <${Form} onSubmit=${submit} error=${add.error}>
        <${Field} name="username" label="User name" required=${true} autofocus=${true} />
        <fieldset class="choices-field">
          <legend>Kind</legend>
          <label class="choice"><input type="radio" name="kind" value="person" defaultChecked=${true} /><span>Person <span class="hint">signs in</span></span></label>
          <label class="choice"><input type="radio" name="kind" value="service" /><span>Service <span class="hint">has only API keys, which stay when the person who made them leaves</span></span></label>
        </fieldset>
        <${Field} name="display_name" label="Display name" />
        <${Field} name="email" label="Email" type="email" />
        ${add.error !== null && html`<${Problem} error=${add.error} />`}
        <p class="hint">Next, give them scopes: until then they may use only what asks for none. People can then be invited.</p>
        <div class="choices">
          <button type="submit" class="button button-primary" disabled=${add.isRunning}>Create user</button>
          <button type="button" class="button button-secondary" onClick=${onClose}>Cancel</button>
        </div>
      <//>
    <//>
  `;
}
