import type { VNode } from 'preact';
import { html } from '../html.ts';

/** A labelled field of a form. */
export interface Field {
  /** Name in the form, and id. */
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'password';
  readonly autocomplete: string;
  /** Requirements, stated in advance. */
  readonly hint?: string;
  /** Problem of the sent value. */
  readonly problem?: string | undefined;
  readonly value?: string;
  readonly focus?: boolean;
  /** Minimum length for the browser. It counts UTF-16 units, so it accepts whatever the server, counting code points, accepts. */
  readonly minLength?: number;
  /** Id of another text that describes the field, such as the notice above. */
  readonly describedBy?: string | null;
  /** True if a script fills the field and hides it. */
  readonly filledByScript?: boolean;
}

/** Renders a field with its label, hint and problem, which are read out together. */
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

/** A password field with a button to reveal it, which appears once its script has started. */
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
