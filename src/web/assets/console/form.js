/** Fields of the console's forms. A given value is only initial: entries stay, even when the record is loaded again. */

import { createContext } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { fieldOf, problemWords } from './field-words.js';
import { html } from './show.js';
import { Text } from './text.js';

/** Words for the problems of a form's fields, by the API's names. */
const FieldProblems = createContext(/** @type {ReadonlyMap<string, unknown>} */ (new Map()));

/**
 * A form that marks the fields which a refusal is about, and moves the focus to the first of them. `found`: problems found before
 * anything was sent.
 * @param {{
 *   readonly error: import('./api.js').ApiError | null,
 *   readonly found?: ReadonlyMap<string, unknown>,
 *   readonly children?: unknown,
 *   readonly onSubmit: (event: SubmitEvent) => void,
 *   readonly onInput?: () => void,
 *   readonly class?: string,
 * }} options
 */
export function Form({ error, found = noProblems, children, ...others }) {
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const problems = new Map(found);
  for (const problem of error?.problems ?? []) problems.set(fieldOf(problem), problemWords(problem));
  useLayoutEffect(() => {
    if (error === null && found.size === 0) return;
    const marked = form.current?.querySelector('[aria-invalid=true], [data-invalid] input');
    if (marked instanceof HTMLElement) marked.focus();
  }, [error, found]);
  return html`
    <${FieldProblems.Provider} value=${problems}>
      <form ref=${form} ...${others}>${children}</form>
    <//>
  `;
}

/** @type {ReadonlyMap<string, unknown>} */
const noProblems = new Map();

/** Hook: the words for the problem of a field; null for none. @param {string} name */
export function useProblem(name) {
  return useContext(FieldProblems).get(name) ?? null;
}

/** The words for the problem of a field, beside it. @param {{ readonly name: string, readonly problem: unknown }} options */
export function FieldProblem({ name, problem }) {
  return problem === null ? null : html`<p class="problem" id=${`${name}-problem`}>${problem}</p>`;
}

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
  const problem = useProblem(name);
  const described = [hint && `${name}-hint`, problem !== null && `${name}-problem`].filter(Boolean).join(' ');
  const field = html`
    <input
      id=${name}
      name=${name}
      type=${type}
      defaultValue=${value}
      autocomplete=${autocomplete}
      spellcheck=${false}
      aria-describedby=${described || null}
      aria-invalid=${problem === null ? null : 'true'}
      ...${others}
    />
  `;
  return html`
    <div class="field">
      <label for=${name}>${label}</label>
      ${hint && html`<p class="hint" id=${`${name}-hint`}>${hint}</p>`}
      ${type === 'password' ? html`<${Revealable} what=${label.toLowerCase()}>${field}<//>` : field}
      <${FieldProblem} name=${name} problem=${problem} />
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
  const problem = useProblem(name);
  return html`
    <fieldset
      class="choices-field"
      data-invalid=${problem === null ? null : ''}
      aria-describedby=${problem === null ? null : `${name}-problem`}
    >
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
      <${FieldProblem} name=${name} problem=${problem} />
    </fieldset>
  `;
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
