/** Questions before something ends, and forms in front of the page. */

import { useLayoutEffect, useRef } from 'preact/hooks';
import { useAction } from './loaded.js';
import { html, Problem } from './show.js';

/**
 * A window in front of the page; Escape closes it, and the keyboard goes back to where it was.
 * @param {{ readonly title: string, readonly onClose: () => void, readonly children?: unknown, readonly isWide?: boolean }} options
 */
export function Window({ title, onClose, children, isWide = false }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return html`
    <dialog ref=${dialog} class=${isWide ? 'wide-window' : ''} onClose=${onClose} aria-labelledby="window-title">
      <h2 id="window-title">${title}</h2>
      ${children}
    </dialog>
  `;
}

/**
 * Asks whether something should end. `children` say what, and how many.
 * @param {{
 *   readonly title: string,
 *   readonly confirm: string,
 *   readonly act: () => Promise<void>,
 *   readonly onClose: () => void,
 *   readonly children?: unknown,
 * }} options
 */
export function Question({ title, confirm, act, onClose, children }) {
  const action = useAction(async () => {
    await act();
    onClose();
  });
  return html`
    <${Window} title=${title} onClose=${onClose}>
      ${children}
      ${action.error !== null && html`<${Problem} error=${action.error} />`}
      <div class="choices">
        <button type="button" class="button button-danger" disabled=${action.isRunning} onClick=${() => action.run()}>
          ${confirm}
        </button>
        <button type="button" class="button button-secondary" onClick=${onClose} autofocus>Cancel</button>
      </div>
    <//>
  `;
}
