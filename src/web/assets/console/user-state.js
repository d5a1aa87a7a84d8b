/** The state of a user. */

import { html, State } from './show.js';

/** The state of a user in words. @param {any} user */
export function stateOf({ disabled, kind, has_password: hasPassword, identities }) {
  if (disabled) return 'disabled';
  return kind === 'person' && !hasPassword && identities.length === 0 ? 'can’t sign in yet' : 'enabled';
}

/** @param {{ readonly user: any }} options */
export function UserState({ user }) {
  const state = stateOf(user);
  return html`<${State} kind=${state === 'enabled' ? 'good' : 'off'}>${state}<//>`;
}
