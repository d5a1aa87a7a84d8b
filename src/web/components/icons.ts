import type { VNode } from 'preact';
import { html } from '../html.ts';

/** The mark of a site without a logo, a gate in a wall, beside a text that names the site. */
export function gateMark(): VNode {
  return html`
    <svg class="mark" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true" focusable="false">
      <path class="mark-wall" d="M4 3h24a2 2 0 0 1 2 2v22a2 2 0 0 1-2 2h-5V17a7 7 0 0 0-14 0v12H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z" />
      <path class="mark-gate" d="M16 13a4 4 0 0 1 4 4v12h-8V17a4 4 0 0 1 4-4z" />
    </svg>
  `;
}

const shapes = {
  problem: 'M10 5.5v5.5M10 14v.5',
  success: 'M6 10.5l2.8 2.8L14 7.5',
} as const;

/** A decorative icon in a circle beside a notice. */
export function noticeIcon(kind: keyof typeof shapes): VNode {
  return html`
    <svg class="notice-icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
      <circle cx="10" cy="10" r="8.25" />
      <path d=${shapes[kind]} />
    </svg>
  `;
}
