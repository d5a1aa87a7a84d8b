/** A line about the last success, shown and read out without taking the focus. */

import { useEffect, useState } from 'preact/hooks';
import { useAddress } from './address.js';
import { html } from './show.js';

/** Name of the event for a new line. */
const spoken = 'postern:said';

/** Shows a line until the next one, or until the reader goes on. @param {string} words */
export function say(words) {
  // Once the window that asked is gone: what is behind an open one isn't read out.
  setTimeout(() => dispatchEvent(new CustomEvent(spoken, { detail: words })));
}

/** The place of the line. */
export function Said() {
  const { href } = useAddress();
  const [said, setSaid] = useState({ words: '', at: href });
  useEffect(() => {
    const show = (/** @type {Event} */ event) =>
      setSaid({ words: /** @type {CustomEvent<string>} */ (event).detail, at: location.href });
    addEventListener(spoken, show);
    return () => removeEventListener(spoken, show);
  }, []);
  return html`<p class="said" role="status">${said.at === href ? said.words : ''}</p>`;
}
