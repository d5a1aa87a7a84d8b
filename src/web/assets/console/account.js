/** The user's own account: rights, password, sessions. */

import { useContext, useState } from 'preact/hooks';
import { groupsOf, useCatalogue } from './catalogue.js';
import { Console } from './context.js';
import { Field, Form, sent } from './form.js';
import { onlyGranted, providersOf, visibleSets } from './held.js';
import { Identities } from './identities.js';
import { isPending, useAction, useLoaded } from './loaded.js';
import { Described } from './scope-choices.js';
import { OwnSessions } from './sessions.js';
import { html, Names, Problem } from './show.js';

export function Account() {
  const context = useContext(Console);
  const { api, root, served, hasPassword, may } = context;
  const catalogue = useCatalogue();
  const maySeeUser = served.has('users') && may('users:read');
  const record = useLoaded(async () => {
    if (!maySeeUser) return { user: null, sets: [] };
    const [{ value }, sets] = await Promise.all([
      api.get(`/admin/users/${api.userId}`),
      visibleSets(context),
    ]);
    return { user: value, sets };
  }, []);
  if (catalogue === null || isPending(record))
    return html`<h1>Your account</h1><p role="status" class="quiet">Loading…</p>`;
  const { user = null, sets = [] } = record.value ?? {};
  return html`
    <div class="heading">
      <h1>Your account</h1>
      ${maySeeUser && html`<a href=${`${root}/users/${api.userId}`}>Your user record</a>`}
    </div>
    <section>
      <h2>What you may do</h2>
      <${Scopes} scopes=${api.scopes} catalogue=${catalogue} />
      ${user !== null && html`<${BySignIn} user=${user} sets=${sets} />`}
    </section>
    ${record.error !== null && html`<${Problem} error=${record.error} again=${record.reload} />`}
    ${user !== null && html`<${Identities} user=${user} isOwn=${true} />`}
    ${served.has('self_password') && hasPassword && html`<${OwnPassword} />`}
    ${served.has('self_sessions') && html`<section><${OwnSessions} /></section>`}
  `;
}

/**
 * The scopes in their groups.
 * @param {{ readonly scopes: Iterable<string>, readonly catalogue: import('./catalogue.js').Catalogue }} options
 */
function Scopes({ scopes, catalogue }) {
  const groups = groupsOf(scopes, catalogue);
  if (groups.length === 0) return html`<p class="quiet">No scopes.</p>`;
  return groups.map(
    (group) => html`
      <h3>${group.title}</h3>
      <ul class="plain scope-list">${group.scopes.map((scope) => html`<li key=${scope}><${Described} scope=${scope} catalogue=${catalogue} /></li>`)}</ul>
    `,
  );
}

/**
 * Scopes that the user has only by this sign-in, and those that another sign-in would add.
 * @param {{ readonly user: any, readonly sets: readonly any[] }} options
 */
function BySignIn({ user, sets }) {
  const { api, providers } = useContext(Console);
  const through = providersOf(user, providers);
  const granted = onlyGranted(user, sets).filter((scope) => api.scopes.has(scope));
  const missing = user.effective_scopes.filter((/** @type {string} */ scope) => !api.scopes.has(scope));
  return html`
    ${granted.length > 0 && html`<p>Only because you signed in through ${through}: <${Names} names=${granted} /></p>`}
    ${missing.length > 0 && html`<p>With a sign-in through ${through}, besides: <${Names} names=${missing} /></p>`}
  `;
}

function OwnPassword() {
  const { api, username, minPasswordLength } = useContext(Console);
  const [done, setDone] = useState(0);
  const change = useAction(async (/** @type {object} */ body) => {
    await api.put('/self/password', body);
    setDone(done + 1);
  });
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    const { text } = sent(event);
    void change.run({ current_password: text('current_password'), new_password: text('new_password') });
  };
  return html`
    <section>
      <h2>Password</h2>
      <${Form} key=${done} class="edit" onSubmit=${submit} error=${change.error}>
        <input type="text" name="username" autocomplete="username" value=${username} readonly hidden />
        <${Field} name="current_password" label="Current password" type="password" autocomplete="current-password" required=${true} />
        <${Field}
          name="new_password"
          label="New password"
          type="password"
          autocomplete="new-password"
          hint=${`At least ${minPasswordLength} characters. Several words that don’t belong together are good. A common password is refused, and so is one that is just your user name.`}
          minlength=${minPasswordLength}
          required=${true}
        />
        ${change.error !== null && html`<${Problem} error=${change.error} />`}
        <div class="choices">
          <button type="submit" class="button button-primary" disabled=${change.isRunning}>Change password</button>
          <span role="status">${done > 0 ? 'Changed. Your other sessions have ended.' : ''}</span>
        </div>
      <//>
    </section>
  `;
}
