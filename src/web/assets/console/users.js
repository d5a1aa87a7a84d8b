/** People and services that have an account. */

import { useContext, useState } from 'preact/hooks';
import { go } from './address.js';
import { inWords } from './api.js';
import { Window } from './ask.js';
import { Console } from './context.js';
import { Field, Form, sent } from './form.js';
import { List } from './list.js';
import { useAction } from './loaded.js';
import { html, Problem } from './show.js';
import { Text } from './text.js';
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

export function Users() {
  const { root, may } = useContext(Console);
  const [isAdding, setAdding] = useState(false);
  /** @type {readonly import('./list.js').Column[]} */
  const columns = [
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
  return html`
    <div class="heading">
      <h1>Users</h1>
      ${may('users:write') && html`<button type="button" class="button button-primary" onClick=${() => setAdding(true)}>New user</button>`}
    </div>
    <${List}
      path="/api/admin/users/"
      what=${['user', 'users']}
      columns=${columns}
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
      api.post('/api/admin/users/', body),
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
        <p class="hint">You can invite them and give scopes next.</p>
        <div class="choices">
          <button type="submit" class="button button-primary" disabled=${add.isRunning}>Create user</button>
          <button type="button" class="button button-secondary" onClick=${onClose}>Cancel</button>
        </div>
      <//>
    <//>
  `;
}
