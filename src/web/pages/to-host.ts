import { linkButton } from '../components/button.ts';
import { renderPage } from '../components/layout.ts';
import { html } from '../html.ts';
import type { Site } from '../site.ts';

/**
 * Renders the page of a named host that leads to the sign-in at `url`: the response's `Refresh` header leads there, as does the
 * link, for browsers that ignore the header.
 */
export function startPage(site: Site, { url }: { readonly url: string }): string {
  return renderPage(site, {
    heading: 'Signing you in…',
    scripts: ['fragment'],
    content: [
      html`<p>If nothing happens, use the link below.</p>`,
      html`<div data-leads>${linkButton(url, 'Sign in')}</div>`,
    ],
  });
}

/** Renders the page after a sign-in that leads to a named host: to `url`, as {@link startPage} does. `host`: its name. */
export function signedInPage(
  site: Site,
  { host, url }: { readonly host: string; readonly url: string },
): string {
  return renderPage(site, {
    heading: 'You are signed in',
    address: url,
    content: [
      html`<p>You are being led on to <bdi>${host}</bdi>. If nothing happens, use the link below.</p>`,
      linkButton(url, ['Go on to ', html`<bdi>${host}</bdi>`]),
    ],
  });
}
