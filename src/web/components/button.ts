import type { VNode } from 'preact';
import { type Content, html } from '../html.ts';

/** Emphasis of a page's main action, or of a lesser one. */
export type Emphasis = 'primary' | 'secondary';

/** A button that sends its form. */
export function submitButton(label: Content, emphasis: Emphasis = 'primary'): VNode {
  return html`<button type="submit" class=${`button button-${emphasis}`}>${label}</button>`;
}

/** A link that looks like a button. An empty `href` is the address of the page itself. */
export function linkButton(href: string, label: Content, emphasis: Emphasis = 'primary'): VNode {
  return html`<a href=${href} class=${`button button-${emphasis}`}>${label}</a>`;
}
