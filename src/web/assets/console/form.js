/** Fields of the console's forms. A given value is only initial: entries stay, even when the record is loaded again. */

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { html } from './show.js';
import { Text } from './text.js';

/**
 * @param {{
 *   readonly name: string,
 *   readonly label: string,
 *   readonly value?: string,
 *   readonly hint?: string,
 *   readonly type?: string,
 *   readonly required?: boolean,
 *   readonly autocomplete?: string,
 *   readonly autofocus?: boolean,
 *   readonly minlength?: number,
 * }} options
 */
export function Field({ name, label, value = '', hint, type = 'text', autocomplete = 'off', ...others }) {
  const field = html`
    <input
      id=${name}
      name=${name}
      type=${type}
      defaultValue=${value}
      autocomplete=${autocomplete}
      spellcheck=${false}
      aria-describedby=${hint ? `${name}-hint` : null}
      ...${others}
    />
  `;
  return html`
    <div class="field">
      <label for=${name}>${label}</label>
      ${hint && html`<p class="hint" id=${`${name}-hint`}>${hint}</p>`}
      ${type === 'password' ? html`<${Revealable} what=${label.toLowerCase()}>${field}<//>` : field}
    </div>
  `;
}

/**
 * A field for a password, with a button that shows what is typed.
 * @param {{ readonly what: string, readonly children?: unknown }} options
 */
function Revealable({ what, children }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [isShown, setShown] = useState(false);
  const input = () => /** @type {HTMLInputElement} */ (place.current?.querySelector('input'));
  useLayoutEffect(() => {
    input().type = isShown ? 'text' : 'password';
  }, [isShown]);
  useLayoutEffect(() => {
    // A browser remembers what is sent from a text field.
    input().form?.addEventListener('submit', () => setShown(false));
  }, []);
  return html`
    <div class="revealable" ref=${place}>
      ${children}
      <button type="button" class="reveal" onClick=${() => setShown(!isShown)}>
        ${isShown ? 'Hide' : 'Show'}<span class="unseen"> ${what}</span>
      </button>
    </div>
  `;
}

/**
 * Checkboxes for any number of choices; `none` is shown if there are no choices.
 * @param {{
 *   readonly name: string,
 *   readonly label: string,
 *   readonly choices: readonly { readonly value: string, readonly label: string, readonly hint?: string }[],
 *   readonly chosen: readonly string[],
 *   readonly none: unknown,
 * }} options
 */
export function Choices({ name, label, choices, chosen, none }) {
  return html`
    <fieldset class="choices-field">
      <legend>${label}</legend>
      ${choices.length === 0 && html`<p class="hint">${none}</p>`}
      ${choices.map(
        (choice) => html`
          <label class="choice" key=${choice.value}>
            <input type="checkbox" name=${name} value=${choice.value} defaultChecked=${chosen.includes(choice.value)} />
            <span><${Text} of=${choice.label} />${choice.hint && html`<span class="hint"> <${Text} of=${choice.hint} /></span>`}</span>
          </label>
        `,
      )}
    </fieldset>
  `;
}

/** Matches Postern's own scopes, which are listed after the service's. */
const ownScope = /^(apikeys|audit|scopesets|sessions|users):/;

/** Scopes as choices, the service's first. @param {Iterable<string>} scopes */
export function scopeChoices(scopes) {
  const sorted = [...scopes].sort();
  return [
    ...sorted.filter((scope) => !ownScope.test(scope)),
    ...sorted.filter((scope) => ownScope.test(scope)),
  ].map((scope) => ({ value: scope, label: scope }));
}

/** @typedef {ReturnType<typeof sent>} Sent */

/** The values of a sent form. @param {SubmitEvent} event */
export function sent(event) {
  event.preventDefault();
  const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
  return {
    /** @param {string} name */
    text: (name) => String(form.get(name) ?? ''),
    /** @param {string} name */
    all: (name) => form.getAll(name).map(String),
  };
}
