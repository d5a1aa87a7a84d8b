/** Confirmations of destructive actions, and forms in front of the page. */

import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isStale } from './api.js';
import { Console } from './context.js';
import { reloadAll, useAction, useLoaded } from './loaded.js';
import { say } from './said.js';
import { html, Problem } from './show.js';

/**
 * A window in front of the page; Escape closes it, and the focus returns. With `first`, Escape only shows that text, which says
 * what has to be done first.
 * @param {{
 *   readonly title: unknown,
 *   readonly onClose: () => void,
 *   readonly children?: unknown,
 *   readonly isWide?: boolean,
 *   readonly first?: string,
 * }} options
 */
export function Window({ title, onClose, children, isWide = false, first = '' }) {
  const { api } = useContext(Console);
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [isHeld, setHeld] = useState(false);
  const reason = isHeld && first !== '' && html`<p role="alert" class="first">${first}</p>`;
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      // Elements behind the window can't have the focus while it is open.
      queueMicrotask(() => focusAgain(before));
      if (!api.isUncertain) return;
      api.isUncertain = false;
      reloadAll();
    };
  }, []);
  /** @param {Event} event */
  const hold = (event) => {
    if (first === '') return;
    event.preventDefault();
    setHeld(true);
  };
  return html`
    <dialog
      ref=${dialog}
      class=${isWide ? 'wide-window' : ''}
      onClose=${onClose}
      onCancel=${hold}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === 'Escape' && hold(event)}
      aria-labelledby="window-title"
    >
      <h2 id="window-title">${title}</h2>
      ${reason}
      ${children}
    </dialog>
  `;
}

/** @param {Element | null} before The element that had the focus; if it is gone, the page's content gets it. */
function focusAgain(before) {
  if (document.querySelector('dialog') !== null) return;
  if (before instanceof HTMLElement && before.isConnected) before.focus();
  else document.getElementById('content')?.focus();
}

/**
 * Asks for confirmation of a destructive action, which `children` describe. `count` is called first, and again when the record's
 * `version` changes; until it has resolved, the action can't be confirmed. `words` and `confirm` turn its result (null: unknown)
 * into texts with the numbers affected. `done`: one line about the success. `onStale` is called if the record has changed or
 * gone since it was read.
 * @param {{
 *   readonly title: unknown,
 *   readonly confirm: string | ((counted: any) => string),
 *   readonly act: () => Promise<void>,
 *   readonly done: string,
 *   readonly onClose: () => void,
 *   readonly onStale?: () => void,
 *   readonly count?: () => Promise<unknown>,
 *   readonly words?: (counted: any) => unknown,
 *   readonly version?: unknown,
 *   readonly children?: unknown,
 * }} options
 */
export function Question({ title, confirm, act, done, onClose, onStale, count, words, version, children }) {
  const counted = useLoaded(async () => (await count?.()) ?? null, [version]);
  const isCounting = count !== undefined && counted.isLoading;
  const action = useAction(async () => {
    await act().catch((error) => {
      if (isStale(error)) onStale?.();
      throw error;
    });
    onClose();
    say(done);
  });
  return html`
    <${Window} title=${title} onClose=${onClose}>
      ${words !== undefined && html`<p role="status">${isCounting ? 'Counting…' : words(counted.value)}</p>`}
      ${children}
      ${action.error !== null && html`<${Problem} error=${action.error} />`}
      <div class="choices">
        <button type="button" class="button button-danger" disabled=${action.isRunning || isCounting} onClick=${() => action.run()}>
          ${typeof confirm === 'string' ? confirm : confirm(isCounting ? null : counted.value)}
        </button>
        <button type="button" class="button button-secondary" onClick=${onClose} autofocus>Cancel</button>
      </div>
    <//>
  `;
}
