/** Small components for all parts of the console. */

import htm from 'htm';
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { fieldWords } from './field-words.js';
import { Text } from './text.js';

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = /** @type {any} */ (htm).bind(h);

/**
 * Names side by side. `of`: the owner of the names, for screen readers.
 * @param {{ readonly names: readonly string[], readonly none?: string, readonly most?: number, readonly of?: string }} options
 */
export function Names({ names, none = 'none', most, of }) {
  if (names.length === 0) return html`<span class="quiet">${none}</span>`;
  return html`<${Several} items=${names.map((name) => html`<${Name} name=${name} />`)} most=${most} of=${of} />`;
}

/** A scope, or another name that is shown as code. @param {{ readonly name: string }} options */
export function Name({ name }) {
  return html`<code><${Text} of=${name} /></code>`;
}

/**
 * Items side by side; those beyond `most` are folded behind their number.
 * @param {{ readonly items: readonly unknown[], readonly most?: number, readonly word?: string, readonly of?: string }} options
 */
export function Several({ items, most = items.length, word = 'and', of }) {
  const rest = items.slice(most);
  const whose = of !== undefined && html`<span class="unseen"> of <${Text} of=${of} /></span>`;
  return html`
    <span class="names">
      ${items.slice(0, most)}
      ${rest.length > 0 && html`<${Folded} label=${html`${word} ${rest.length} more${whose}`}>${rest}<//>`}
    </span>
  `;
}

/** Content that its label unfolds. @param {{ readonly label: unknown, readonly children?: unknown }} options */
export function Folded({ label, children }) {
  return html`<details class="folded"><summary>${label}</summary><div class="names">${children}</div></details>`;
}

/**
 * A text for use elsewhere, with a button that copies it where pages may write to the clipboard.
 * @param {{ readonly text: string, readonly what: string, readonly long?: boolean, readonly onCopied?: () => void }} options
 */
export function Copyable({ text, what, long = false, onCopied }) {
  return html`
    <span class=${long ? 'copyable copyable-long' : 'copyable'}>
      ${long ? html`<pre tabindex="0">${text}</pre>` : html`<code>${text}</code>`}
      <${CopyButton} text=${text} what=${what} onCopied=${onCopied} />
    </span>
  `;
}

/**
 * The button alone. `isWhole`: true to show the name of what is copied, too.
 * @param {{ readonly text: string, readonly what: string, readonly isWhole?: boolean, readonly onCopied?: () => void }} options
 */
export function CopyButton({ text, what, isWhole = false, onCopied }) {
  const [word, setWord] = useState('Copy');
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => {
        setWord('Copied');
        onCopied?.();
      },
      () => setWord('Not allowed'),
    );
  if (navigator.clipboard === undefined) return null;
  return html`
    <button type="button" class="copy" onClick=${copy} aria-live="polite">
      ${word}<span class=${isWhole ? null : 'unseen'}> ${what}</span>
    </button>
  `;
}

/** @param {{ readonly kind: 'good' | 'off' | 'bad', readonly title?: string | null, readonly children?: unknown }} options */
export function State({ kind, title = null, children }) {
  return html`<span class=${`state state-${kind}`} title=${title}>${children}</span>`;
}

/**
 * A quiet button at the end of a row; `of` names the row for screen readers.
 * @param {{ readonly word: string, readonly of: string, readonly isDelete?: boolean, readonly act: () => void }} options
 */
export function RowAction({ word, of, isDelete = false, act }) {
  return html`
    <button type="button" class="row-action" title=${word} onClick=${act}>
      ${isDelete ? html`<${Bin} /><span class="unseen">${word}</span>` : word}<span class="unseen"> <${Text} of=${of} /></span>
    </button>
  `;
}

function Bin() {
  return html`
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path fill="none" stroke="currentColor" stroke-width="1.25" d="M2.5 4.5h11M6 4V2.5h4V4M4 4.5l.6 9h6.8l.6-9M6.75 7v4.5M9.25 7v4.5" />
    </svg>
  `;
}

/** @type {Readonly<Record<string, string>>} */
const whatToDo = {
  insufficient_scope: 'You are not allowed to do this. Ask an administrator for what is missing.',
  not_found: 'It doesn’t exist any more, or you may not see it.',
  precondition_failed:
    'Someone has changed this since you opened it. Look at what is there now, then try again.',
  managed: 'It is kept in step with the configuration file: change it there.',
  conflict: 'The name is already taken, or this is built in and can’t be changed.',
  in_use: 'It is in use: take it away from everyone who has it first.',
  last_administrator: 'This would leave no administrator. Make someone else an administrator first.',
  store_unavailable: 'The records can’t be reached at the moment. Nothing has changed; try again.',
  overloaded: 'There is too much to do at the moment. Nothing has changed; try again.',
  too_many_attempts: 'There were too many attempts. Wait a while, then try again.',
  wrong_password: 'This is not your current password.',
  invalid_cursor: 'This page of the list is no longer there.',
  expiry_exceeds_caller: 'It can’t live longer than what you use to make it.',
  outcome_unknown: 'There was no response. It may have been done all the same: look before you try again.',
  no_response: 'There was no response. Check your connection, and try again.',
};

/**
 * An error with its remedy, and the facts by which an administrator finds its cause.
 * @param {{
 *   readonly error: import('./api.js').ApiError,
 *   readonly again?: () => void,
 *   readonly labels?: Readonly<Record<string, string>>,
 * }} options
 */
export function Problem({ error, again, labels = {} }) {
  const { status, code, words, message, problems, missingScopes, requestId } = error;
  return html`
    <div class="notice notice-problem" role="alert">
      <div>
        <p>${words || whatToDo[code] || (status === 422 ? 'Check what you have entered.' : message)}</p>
        ${problems.length > 0 && html`<ul>${problems.map((problem) => html`<li>${fieldWords(problem, labels)}</li>`)}</ul>`}
        ${missingScopes.length > 0 && html`<p>Missing: <${Names} names=${missingScopes} /></p>`}
        <p class="hint">${`${status === 0 ? '' : `${status} `}${code}`}${requestId && ` · request ${requestId}`}</p>
      </div>
      ${again && html`<button type="button" class="small" onClick=${again}>Try again</button>`}
    </div>
  `;
}
