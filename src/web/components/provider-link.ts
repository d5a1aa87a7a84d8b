import type { VNode } from 'preact';
import { html } from '../html.ts';
import { returnToQuery } from '../return-to.ts';
import { type Emphasis, linkButton } from './button.ts';

/** A provider to sign in with. */
export interface Provider {
  /** Name in the configuration and in addresses. */
  readonly name: string;
  readonly label: string;
}

/** A list of links to the providers, with `returnTo` as destination. */
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
