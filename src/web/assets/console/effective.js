/** The scopes of a user with their origins. */

import { useContext } from 'preact/hooks';
import { Console } from './context.js';
import { gives, onlyGranted, providersOf } from './held.js';
import { NoScopes } from './no-scopes.js';
import { Described } from './scope-choices.js';
import { html } from './show.js';
import { listed, Text } from './text.js';

/** @param {readonly any[]} sets @param {string} id */
export const setName = (sets, id) => sets.find((set) => set.id === id)?.name ?? id;

/**
 * @param {{
 *   readonly user: any,
 *   readonly sets: readonly any[],
 *   readonly catalogue: import('./catalogue.js').Catalogue,
 *   readonly required: readonly string[],
 * }} options
 */
export function Effective({ user, sets, catalogue, required }) {
  const { providers } = useContext(Console);
  const granted = new Set(onlyGranted(user, sets));
  const signIn = `a sign-in through ${providersOf(user, providers)}`;
  const setsThatGive = (/** @type {readonly string[]} */ ids, /** @type {string} */ scope) =>
    ids.filter((id) => gives(sets, id, scope)).map((id) => html`the set <${Text} of=${setName(sets, id)} />`);
  const sourcesOf = (/** @type {string} */ scope) => [
    ...(user.scopes.includes(scope) ? ['given directly'] : []),
    ...setsThatGive(user.scope_sets, scope),
    ...(user.provider_scopes.includes(scope) ? [signIn] : []),
    ...setsThatGive(user.provider_scope_sets, scope).map((set) => [set, `, by ${signIn}`]),
  ];
  return html`
    <section aria-labelledby="effective">
      <h2 id="effective">What <${Text} of=${user.username} /> may do</h2>
      ${
        user.effective_scopes.length === 0
          ? html`<${NoScopes} username=${user.username} required=${required} />`
          : html`
              <div class="table-frame">
                <table>
                  <thead><tr><th scope="col">Scope</th><th scope="col">Comes from</th></tr></thead>
                  <tbody>
                    ${user.effective_scopes.map(
                      (/** @type {string} */ scope) => html`
                        <tr key=${scope}>
                          <td class="card-title"><div><${Described} scope=${scope} catalogue=${catalogue} /></div></td>
                          <td class="card-fact"><div>${granted.has(scope) && 'only '}${listed(sourcesOf(scope), '; ') ?? 'a set that you may not see'}</div></td>
                        </tr>
                      `,
                    )}
                  </tbody>
                </table>
              </div>
              ${
                granted.size > 0 &&
                html`<p class="hint">What comes only from a sign-in counts in the sessions that begin with it, and in keys made in them: not in a session by password, nor in a key that somebody else makes.</p>`
              }
            `
      }
    </section>
  `;
}
