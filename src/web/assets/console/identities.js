/** The ways in which a user signs in: the password, and linked accounts at identity providers. */

import { useContext, useState } from 'preact/hooks';
import { inWords } from './api.js';
import { Question, Window } from './ask.js';
import { Console } from './context.js';
import { Field, Form, sent } from './form.js';
import { useAction } from './loaded.js';
import { html, Problem } from './show.js';
import { Text } from './text.js';

/** @typedef {{ readonly provider: string | null, readonly subject: string }} Identity */

/**
 * The list of ways to sign in; with `onChanged`, accounts can be linked and unlinked.
 * @param {{ readonly user: any, readonly isOwn?: boolean, readonly onChanged?: () => void }} options
 */
export function Identities({ user, isOwn = false, onChanged }) {
  const { providers } = useContext(Console);
  const [isLinking, setLinking] = useState(false);
  const [unlinked, setUnlinked] = useState(/** @type {Identity | null} */ (null));
  const mayLink = onChanged !== undefined && user.kind === 'person' && providers.size > 0;
  return html`
    <section aria-labelledby="ways">
      <div class="heading">
        <h2 id="ways">${isOwn ? 'How you sign in' : 'Sign-in methods'}</h2>
        ${mayLink && html`<button type="button" class="button button-secondary" onClick=${() => setLinking(true)}>Link an account</button>`}
      </div>
      <p>${wayOf(user)}</p>
      ${
        user.identities.length > 0 &&
        html`
          <div class="table-frame">
            <table>
              <thead>
                <tr><th scope="col">Identity provider</th><th scope="col">Subject</th>${onChanged && html`<th scope="col">Unlink</th>`}</tr>
              </thead>
              <tbody>
                ${user.identities.map(
                  (/** @type {Identity} */ identity) => html`
                    <tr key=${`${identity.provider} ${identity.subject}`}>
                      <td class="card-title">${identity.provider === null ? html`<span class="quiet">one that is no longer configured</span>` : titleOf(providers, identity.provider)}</td>
                      <td class="wide-cell card-line"><code><${Text} of=${identity.subject} /></code></td>
                      ${
                        onChanged &&
                        html`
                          <td class="card-action">
                            ${
                              identity.provider !== null &&
                              html`<button type="button" class="small" onClick=${() => setUnlinked(identity)}>
                                Unlink<span class="unseen"> <${Text} of=${identity.subject} /> at ${titleOf(providers, identity.provider)}</span>
                              </button>`
                            }
                          </td>
                        `
                      }
                    </tr>
                  `,
                )}
              </tbody>
            </table>
          </div>
        `
      }
    </section>
    ${isLinking && html`<${Link} user=${user} onClose=${() => setLinking(false)} onLinked=${onChanged} />`}
    ${unlinked !== null && html`<${Unlink} user=${user} identity=${unlinked} onClose=${() => setUnlinked(null)} onUnlinked=${onChanged} />`}
  `;
}

/**
 * The title of a provider; its name for one that is unknown.
 * @param {ReadonlyMap<string, string>} providers
 * @param {string} name
 */
const titleOf = (providers, name) => providers.get(name) ?? name;

/** @param {any} user */
function wayOf({ kind, has_password: hasPassword, identities }) {
  if (kind === 'service') return 'Not at all: a service has only API keys.';
  if (hasPassword) return identities.length === 0 ? 'With a password.' : 'With a password, or through:';
  return identities.length === 0 ? 'Not yet: there is no password, and no account is linked.' : 'Through:';
}

/** @param {{ readonly user: any, readonly onClose: () => void, readonly onLinked: () => void }} options */
function Link({ user, onClose, onLinked }) {
  const { api, providers } = useContext(Console);
  const link = useAction(async (/** @type {object} */ identity) => {
    const words = { conflict: 'This account is already linked to another user.' };
    await inWords(words, api.post(`/admin/users/${user.id}/identities`, identity));
    onClose();
    onLinked();
  });
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    const { text } = sent(event);
    void link.run({ provider: text('provider'), subject: text('subject') });
  };
  return html`
    <${Window} title="Link an account" onClose=${onClose}>
      <${Form} onSubmit=${submit} error=${link.error}>
        <div class="field">
          <label for="provider">Identity provider</label>
          <select id="provider" name="provider">
            ${[...providers].map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}
          </select>
        </div>
        <${Field}
          name="subject"
          label="Subject"
          hint="The sub claim of the provider’s ID tokens for this person, not a name or an email address."
          required=${true}
        />
        ${link.error !== null && html`<${Problem} error=${link.error} />`}
        <p class="hint">Whoever signs in there as this subject is <${Text} of=${user.username} /> here.</p>
        <div class="choices">
          <button type="submit" class="button button-primary" disabled=${link.isRunning}>Link account</button>
          <button type="button" class="button button-secondary" onClick=${onClose}>Cancel</button>
        </div>
      <//>
    <//>
  `;
}

/**
 * @param {{
 *   readonly user: any,
 *   readonly identity: Identity,
 *   readonly onClose: () => void,
 *   readonly onUnlinked: () => void,
 * }} options
 */
function Unlink({ user, identity: { provider, subject }, onClose, onUnlinked }) {
  const { api, providers } = useContext(Console);
  const name = html`<${Text} of=${user.username} />`;
  return html`
    <${Question}
      title="Unlink this account?"
      confirm="Unlink account"
      done="Unlinked the account."
      onClose=${onClose}
      onStale=${onUnlinked}
      act=${async () => {
        const query = new URLSearchParams({ provider: provider ?? '', subject });
        await api.delete(`/admin/users/${user.id}/identities?${query}`);
        onUnlinked();
      }}
    >
      <p>
        Whoever signs in at ${titleOf(providers, provider ?? '')} as <code><${Text} of=${subject} /></code> is no longer ${name}.${' '}
        All sessions of ${name} end immediately.
      </p>
    <//>
  `;
}
