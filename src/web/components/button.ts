import type { VNode } from 'preact';
import { type Content, html } from '../html.ts';

/** The main action of a page, or one that steps back behind it. */
export type Emphasis = 'primary' | 'secondary';

/** The button that sends its form. */
export function submitButton(label: Content, emphasis: Emphasis = 'primary'): VNode {
  return html`<button type="submit" class=${`button button-${emphasis}`}>${label}</button>`;
}

/** A link that looks like a button: where to go next. An empty address is that of the page itself. */
export function linkButton(href: string, label: Content, emphasis: Emphasis = 'primary'): VNode {
  return html`<a href=${href} class=${`button button-${emphasis}`}>${label}</a>`;
}
