/** A field for scopes: checkboxes in two groups, each scope with its sentence, and a box that narrows a long list. */

import { useId, useState } from 'preact/hooks';
import { groupsOf } from './catalogue.js';
import { FieldProblem, useProblem } from './form.js';
import { html, Name } from './show.js';
import { Text } from './text.js';

/** Number of scopes above which the list can be narrowed. */
const mostWithoutFilter = 15;

/**
 * Checkboxes named `scopes`; `none` is shown if there is no scope to choose.
 * @param {{
 *   readonly label?: string,
 *   readonly scopes: Iterable<string>,
 *   readonly catalogue: import('./catalogue.js').Catalogue,
 *   readonly chosen: readonly string[],
 *   readonly none: unknown,
 * }} options
 */
export function ScopeChoices({ label = 'Scopes', scopes, catalogue, chosen, none }) {
  const id = useId();
  const problem = useProblem('scopes');
  const [wanted, setWanted] = useState('');
  const [checked, setChecked] = useState(new Set(chosen));
  const all = [...scopes];
  const words = wanted.toLowerCase().split(/\s+/);
  /** @param {string} scope */
  const isShown = (scope) => {
    const text = `${scope} ${catalogue.get(scope)?.description ?? ''}`.toLowerCase();
    return checked.has(scope) || words.every((word) => text.includes(word));
  };
  /** @param {Event} event */
  const note = ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.type !== 'checkbox') return;
    const { checked: isChosen, value } = target;
    setChecked((before) => {
      const next = new Set(before);
      if (isChosen) next.add(value);
      else next.delete(value);
      return next;
    });
  };
  return html`
    <fieldset
      class="choices-field"
      onChange=${note}
      data-invalid=${problem === null ? null : ''}
      aria-describedby=${problem === null ? null : 'scopes-problem'}
    >
      <legend>${label}</legend>
      ${
        all.length > mostWithoutFilter &&
        html`
          <div class="narrow">
            <label class="unseen" for=${id}>Find scopes</label>
            <input
              id=${id}
              type="search"
              placeholder="Find scopes"
              autocomplete="off"
              value=${wanted}
              onInput=${(/** @type {InputEvent} */ { target }) => setWanted(/** @type {HTMLInputElement} */ (target).value)}
              onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === 'Enter' && event.preventDefault()}
            />
          </div>
        `
      }
      ${all.length === 0 && html`<p class="hint">${none}</p>`}
      <div class="choices-list">
        ${groupsOf(all, catalogue).map(
          (group) => html`
            <div role="group" aria-label=${group.title} hidden=${!group.scopes.some(isShown)} key=${group.title}>
              <div class="group-title">
                <p aria-hidden="true">${group.title}</p>
                ${
                  group.scopes.filter(isReading).length > 1 &&
                  html`<button type="button" class="small" onClick=${chooseReading}>Choose all that read<span class="unseen"> in ${group.title}</span></button>`
                }
              </div>
              ${group.scopes.map(
                (scope) => html`
                  <label class="choice scope-choice" key=${scope} hidden=${!isShown(scope)}>
                    <input type="checkbox" name="scopes" value=${scope} defaultChecked=${chosen.includes(scope)} />
                    <${Described} scope=${scope} catalogue=${catalogue} />
                  </label>
                `,
              )}
            </div>
          `,
        )}
      </div>
      ${all.length > 0 && !all.some(isShown) && html`<p class="hint" role="status">No scope matches.</p>`}
      <${FieldProblem} name="scopes" problem=${problem} />
    </fieldset>
  `;
}

/** True for a scope that lets its holder read something, by its name. @param {string} scope */
const isReading = (scope) => scope.endsWith(':read');

/** Checks what is shown of the group and only reads, as if each were clicked. @param {MouseEvent} event */
function chooseReading({ currentTarget }) {
  const group = /** @type {HTMLElement} */ (
    /** @type {HTMLElement} */ (currentTarget).closest('[role=group]')
  );
  /** @type {NodeListOf<HTMLInputElement>} */
  const open = group.querySelectorAll('label:not([hidden]) input:not(:checked)');
  for (const input of open) if (isReading(input.value)) input.click();
}

/**
 * A scope with its sentence.
 * @param {{ readonly scope: string, readonly catalogue: import('./catalogue.js').Catalogue }} options
 */
export function Described({ scope, catalogue }) {
  const { description = '' } = catalogue.get(scope) ?? {};
  return html`<span class="described"><${Name} name=${scope} />${description && html` <span class="hint"><${Text} of=${description} /></span>`}</span>`;
}
