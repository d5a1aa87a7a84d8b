/** The hint about a user without scopes: the scopes that the service asks for. */

import { html, Names } from './show.js';
import { Text } from './text.js';

/** The scopes that routes require, sorted. @param {readonly import('./command.js').Route[]} routes */
export const requiredBy = (routes) =>
  [...new Set(routes.flatMap(({ scopes }) => Object.values(scopes).flat()))].sort();

/** @param {{ readonly username: string, readonly required: readonly string[] }} options */
export function NoScopes({ username, required }) {
  return html`
    <p>
      <${Text} of=${username} /> has no scopes yet, and may use only what asks for none.
      ${required.length > 0 && html` The service asks for <${Names} names=${required} most=${8} />`}
    </p>
  `;
}
