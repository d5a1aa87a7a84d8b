import { linkButton } from '../components/button.ts';
import { renderPage } from '../components/layout.ts';
import { html } from '../html.ts';
import type { Site } from '../site.ts';

/** `<path>/signed-out`. `stillSignedInAt`: what people call the provider that may still know them. */
export function signedOutPage(
  site: Site,
  { stillSignedInAt }: { readonly stillSignedInAt: string | null },
): string {
  return renderPage(site, {
    heading: 'You are signed out',
    content: [
      html`<p>Your session in this browser has ended.</p>`,
      stillSignedInAt !== null &&
        html`
          <p>
            You may still be signed in at ${stillSignedInAt}. On a computer that others use, sign out there too, or close
            the browser.
          </p>
        `,
      linkButton(`${site.path}/sign-in`, 'Sign in again'),
    ],
  });
}

/**
 * After a sign-out that goes on at the provider: the response's `Refresh` header leads to `url`, and so does the link, for
 * browsers that don't follow it. `provider`: what people call it.
 */
export function endSessionPage(
  site: Site,
  { provider, url }: { readonly provider: string; readonly url: string },
): string {
  return renderPage(site, {
    heading: `Signing you out at ${provider}…`,
    address: `${site.path}/signed-out`,
    content: [
      html`<p>You are already signed out here. If nothing happens, use the link below.</p>`,
      linkButton(url, ['Sign out at ', provider]),
    ],
  });
}
