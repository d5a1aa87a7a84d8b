import type { VNode } from 'preact';
import { type Content, html } from '../html.ts';
import { noticeIcon } from './icons.ts';

/** A notice about a result, at the top of a card. `id`: for the field that it describes. */
export function notice(kind: 'problem' | 'success', content: Content, id?: string): VNode {
  return html`
    <div id=${id} class=${`notice notice-${kind}`} role=${kind === 'problem' ? 'alert' : 'status'}>
      ${noticeIcon(kind)}
      <p>${content}</p>
    </div>
  `;
}

/** The notice about blocked cookies, hidden until a script finds them blocked. */
export function cookieNotice(content: Content): VNode {
  return html`
    <div class="notice notice-problem" data-cookies hidden>
      ${noticeIcon('problem')}
      <p>${content}</p>
    </div>
  `;
}
