import type { VNode } from 'preact';
import { type Content, html } from '../html.ts';

const shapes = {
  problem: 'M10 5.5v5.5M10 14v.5',
  success: 'M6 10.5l2.8 2.8L14 7.5',
} as const;

/** A notice about a result, at the top of a card. `id` is for the field that the notice describes. */
export function notice(kind: 'problem' | 'success', content: Content, id?: string): VNode {
  return html`
    <div id=${id} class=${`notice notice-${kind}`} role=${kind === 'problem' ? 'alert' : 'status'}>
      ${noticeIcon(kind)}
      <p>${content}</p>
    </div>
  `;
}

/** The notice about blocked cookies, or a spent invitation, hidden until a script finds that it is so. */
export function hiddenNotice(about: 'cookies' | 'spent', content: Content): VNode {
  const is = (name: typeof about) => name === about || null;
  return html`
    <div class="notice notice-problem" data-cookies=${is('cookies')} data-spent=${is('spent')} hidden>
      ${noticeIcon('problem')}
      <p>${content}</p>
    </div>
  `;
}

/** The notice about another name than `base_url`, hidden until a script finds it in use, and sets the link. */
export function nameNotice([own, ...others]: readonly [string, ...string[]]): VNode {
  return html`
    <div class="notice notice-problem" data-origins=${[own, ...others].join(' ')} hidden>
      ${noticeIcon('problem')}
      <p>This service is at <a href=${`${own}/`}>${own}</a>. You opened it under another name: sign in there.</p>
    </div>
  `;
}

/** A decorative icon in a circle beside a notice. */
function noticeIcon(kind: keyof typeof shapes): VNode {
  return html`
    <svg class="notice-icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
      <circle cx="10" cy="10" r="8.25" />
      <path d=${shapes[kind]} />
    </svg>
  `;
}
