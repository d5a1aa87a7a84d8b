import type { VNode } from 'preact';
import { html } from '../html.ts';

/** The name of an account within a sentence, whose direction it leaves as it is, whatever characters it has (UAX #9). */
export function accountName(username: string): VNode {
  return html`<strong><bdi class="account-name">${username}</bdi></strong>`;
}
