import type { VNode } from 'preact';
import { html } from '../html.ts';

/** A labelled field of a form. */
export interface Field {
  /** Name in the form; its id, too. */
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'password';
  readonly autocomplete: string;
  /** What it has to be like, told beforehand. */
  readonly hint?: string;
  /** What is wrong with what was sent. */
  readonly problem?: string | undefined;
  readonly value?: string;
  /** The keyboard begins here. */
  readonly focus?: boolean;
  /** In UTF-16 units, checked by the browser: at most what the server asks for, which counts code points. */
  readonly minLength?: number;
  /** Id of another text that describes it, such as the notice above. */
  readonly describedBy?: string | null;
  /** The script that fills it hides it. */
  readonly filledByScript?: boolean;
}

/** A field with its label, hint and problem, which are read out together. */
export function field(options: Field): VNode {
  const { name, label, hint, problem, filledByScript = false } = options;
  return html`
    <div class=${problem === undefined ? 'field' : 'field field-wrong'} data-token-field=${filledByScript || null}>
      <label for=${name}>${label}</label>
      ${hint !== undefined && html`<p class="hint" id=${`${name}-hint`}>${hint}</p>`}
      ${problem !== undefined && html`<p class="problem" id=${`${name}-problem`}>${problem}</p>`}
      ${options.type === 'password' ? revealable(options) : input(options)}
    </div>
  `;
}

function input({ name, hint, problem, describedBy, minLength, ...options }: Field): VNode {
  const described = [
    describedBy,
    hint !== undefined && `${name}-hint`,
    problem !== undefined && `${name}-problem`,
  ].filter(Boolean);
  return html`
    <input
      id=${name}
      name=${name}
      type=${options.type}
      value=${options.value}
      required
      autocomplete=${options.autocomplete}
      autocapitalize="none"
      autocorrect="off"
      spellcheck="false"
      autofocus=${options.focus === true}
      minlength=${minLength}
      passwordrules=${minLength === undefined ? null : `minlength: ${minLength};`}
      aria-invalid=${problem === undefined ? null : 'true'}
      aria-describedby=${described.length === 0 ? null : described.join(' ')}
    />
  `;
}

/** The button appears when the script that serves it has started. */
function revealable(options: Field): VNode {
  return html`
    <div class="revealable">
      ${input(options)}
      <button type="button" class="reveal" data-reveals=${options.name} hidden>
        <span data-word>Show</span><span class="unseen">${` ${options.label.toLowerCase()}`}</span>
      </button>
    </div>
  `;
}
