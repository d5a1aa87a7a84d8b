/** The page of a user: profile, rights with their origins, actions. */

import { useContext, useState } from 'preact/hooks';
import { useCatalogue } from './catalogue.js';
import { useRoutes } from './command.js';
import { Console } from './context.js';
import { Edited } from './edited.js';
import { Effective, setName } from './effective.js';
import { Choices, Field } from './form.js';
import { visibleSets } from './held.js';
import { Identities } from './identities.js';
import { Invite } from './invite.js';
import { isPending, useLoaded } from './loaded.js';
import { MintKey } from './mint-key.js';
import { NewestOf, useNewest } from './newest.js';
import { requiredBy } from './no-scopes.js';
import { Unread, useTitle } from './one.js';
import { ScopeChoices } from './scope-choices.js';
import { Copyable, html } from './show.js';
import { Text } from './text.js';
import { Both } from './times.js';
import { UserActions } from './user-actions.js';
import { stateOf, UserState } from './user-state.js';

/** @param {{ readonly id: string }} options */
export function User({ id }) {
  const context = useContext(Console);
  const { api, root, served, may } = context;
  const [isMinting, setMinting] = useState(false);
  const [isSaved, setSaved] = useState(false);
  const user = useLoaded(async () => api.get(`/admin/users/${id}`), [id]);
  const sets = useLoaded(() => visibleSets(context), []);
  const catalogue = useCatalogue();
  const routes = useRoutes();
  const newest = useNewest(id);
  useTitle('user', user, user.value?.value.username);
  if (user.value === null || catalogue === null || [sets, routes, newest].some(isPending))
    return html`<${Unread} kind="user" loaded=${user} />`;
  const { value, etag } = user.value;
  const known = sets.value ?? [];
  const mayWrite = may('users:write') && !value.managed;
  const name = html`<${Text} of=${value.username} />`;
  const required = requiredBy(routes.value ?? []);
  const reload = () => {
    user.reload();
    newest.reload();
  };
  const show = (/** @type {boolean} */ isOurs) => {
    setSaved(isOurs);
    reload();
  };
  return html`
    <div class="heading">
      <h1>
        ${name}${value.display_name && html` <span class="quiet"><${Text} of=${value.display_name} /></span>`}${' '}
        <${UserState} user=${value} />
      </h1>
      <div class="choices">
        ${may('users:write') && stateOf(value) === 'can’t sign in yet' && html`<${Invite} user=${value} required=${required} isMain=${true} />`}
        ${
          may('users:write', 'apikeys:write') &&
          html`<button type="button" class="button button-secondary" onClick=${() => setMinting(true)}>New key for ${name}</button>`
        }
      </div>
    </div>
    <dl class="facts">
      ${value.email && html`<div><dt>Email</dt><dd><${Text} of=${value.email} /></dd></div>`}
      <div><dt>Kind</dt><dd>${value.kind}</dd></div>
      <div><dt>Last sign-in</dt><dd><${Both} at=${value.last_login} none=${value.kind === 'service' ? 'never: a service doesn’t sign in' : 'never'} /></dd></div>
      <div><dt>Created</dt><dd><${Both} at=${value.created} /></dd></div>
      <div><dt>Id</dt><dd><${Copyable} text=${value.id} what="id" /></dd></div>
    </dl>
    ${
      served.has('audit') &&
      may('audit:read') &&
      html`
        <p class="links">
          <a href=${`${root}/audit?target__eq=${id}`}>Changes to ${name}</a>
          <a href=${`${root}/audit?actor__eq=${id}`}>What ${name} did</a>
        </p>
      `
    }
    ${value.managed && html`<p class="hint">This user is kept in step with the configuration file, and is changed there.</p>`}
    <${Effective} user=${value} sets=${known} catalogue=${catalogue} required=${required} />
    ${newest.value !== null && html`<${NewestOf} user=${value} newest=${newest.value} />`}
    ${mayWrite && html`<${EditUser} key=${etag} user=${value} etag=${etag} sets=${known} catalogue=${catalogue} isSaved=${isSaved} onSaved=${() => show(true)} onTaken=${() => show(false)} />`}
    <${Identities} user=${value} onChanged=${mayWrite ? user.reload : undefined} />
    ${may('users:write') && html`<${UserActions} user=${value} etag=${etag} required=${required} onDone=${reload} onEnded=${newest.reload} />`}
    ${isMinting && html`<${MintKey} owner=${value} onClose=${() => setMinting(false)} onMinted=${newest.reload} />`}
  `;
}

/** @type {Readonly<Record<string, string>>} */
const fieldNames = {
  display_name: 'Display name',
  email: 'Email',
  scopes: 'Scopes',
  scope_sets: 'Scope sets',
  disabled: 'Disabled',
};

/**
 * @param {{
 *   readonly user: any,
 *   readonly etag: string | null,
 *   readonly sets: readonly any[],
 *   readonly catalogue: import('./catalogue.js').Catalogue,
 *   readonly isSaved: boolean,
 *   readonly onSaved: () => void,
 *   readonly onTaken: () => void,
 * }} options
 */
function EditUser({ user, etag, sets, catalogue, isSaved, onSaved, onTaken }) {
  const { api } = useContext(Console);
  // The caller can give the scopes that they hold; the user's own stay on the list, to be removed.
  const scopes = new Set([...user.scopes, ...api.scopes]);
  const offered = sets.filter(
    (set) =>
      user.scope_sets.includes(set.id) ||
      set.scopes.every((/** @type {string} */ scope) => api.scopes.has(scope)),
  );
  return html`
    <${Edited}
      title="Details"
      path=${`/admin/users/${user.id}`}
      original=${user}
      etag=${etag}
      names=${fieldNames}
      spell=${(/** @type {string} */ name, /** @type {string} */ value) => (name === 'scope_sets' ? setName(sets, value) : value)}
      isSaved=${isSaved}
      onSaved=${onSaved}
      onTaken=${onTaken}
      conflict=${() => 'One of these sets no longer exists. Load the page again.'}
      read=${(/** @type {import('./form.js').Sent} */ { text, all }) => ({
        display_name: text('display_name') || null,
        email: text('email') || null,
        scopes: all('scopes'),
        scope_sets: all('scope_sets'),
      })}
    >
      <${Field} name="display_name" label="Display name" value=${user.display_name ?? ''} />
      <${Field} name="email" label="Email" type="email" value=${user.email ?? ''} />
      <${Choices}
        name="scope_sets"
        label="Scope sets"
        choices=${offered.map((set) => ({ value: set.id, label: set.name, hint: set.description }))}
        chosen=${user.scope_sets}
        none="There is no set that you could give."
      />
      <${ScopeChoices}
        label="Scopes given directly"
        scopes=${scopes}
        catalogue=${catalogue}
        chosen=${user.scopes}
        none="You hold no scope that you could give."
      />
    <//>
  `;
}
