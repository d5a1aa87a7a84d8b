/** The user of a key or session. */

import { useContext } from 'preact/hooks';
import { Console } from './context.js';
import { html } from './show.js';
import { Text } from './text.js';

/** @param {{ readonly user: any }} options */
export function Person({ user }) {
  const { root, served, may } = useContext(Console);
  if (user === null) return html`<span class="quiet">no one</span>`;
  if (user.username === null) return html`<span title=${user.id}>removed user</span>`;
  const name = html`<${Text} of=${user.username} />`;
  if (!served.has('users') || !may('users:read')) return html`<span title=${user.id}>${name}</span>`;
  return html`<a href=${`${root}/users/${user.id}`}>${name}</a>`;
}
