import type { VNode } from 'preact';
import { html } from '../html.ts';
import { returnToQuery } from '../return-to.ts';
import { type Emphasis, linkButton } from './button.ts';

/** A way to sign in elsewhere. */
export interface Provider {
  /** Its name in the configuration, as in addresses. */
  readonly name: string;
  /** What people call it. */
  readonly label: string;
}

/** A list of links, one for each provider, that come back to `returnTo`. */
export function providerLinks(
  path: string,
  providers: readonly Provider[],
  returnTo: string | null,
  emphasis: Emphasis,
): VNode {
  const query = returnToQuery(returnTo);
  const item = ({ name, label }: Provider) => html`
    <li>
      ${linkButton(`${path}/sign-in/${encodeURIComponent(name)}${query}`, ['Sign in with ', label], emphasis)}
    </li>
  `;
  return html`<ul class="providers">${providers.map(item)}</ul>`;
}
