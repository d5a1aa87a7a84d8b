import type { VNode } from 'preact';
import { html } from '../html.ts';

/** An account's name within a sentence, isolated so that no character changes the sentence's direction (UAX #9). */
export function accountName(username: string): VNode {
  return html`<strong><bdi class="account-name">${username}</bdi></strong>`;
}
