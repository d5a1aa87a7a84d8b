import { linkButton, submitButton } from '../components/button.ts';
import { renderPage } from '../components/layout.ts';
import { html } from '../html.ts';
import type { Site } from '../site.ts';

/**
 * Renders `<path>/sign-out` for people who follow a link or bookmark: only sending its form signs out. `hasHosts`: true if the
 * session may be that of several hosts.
 */
export function signOutPage(site: Site, { hasHosts }: { readonly hasHosts: boolean }): string {
  return renderPage(site, {
    heading: 'Sign out?',
    content: [
      html`<p>This ends your session in this browser${hasHosts && ', at every host that you entered with it'}.</p>`,
      html`<form method="post" action=${`${site.path}/sign-out`}>${submitButton('Sign out')}</form>`,
    ],
  });
}

/** Renders `<path>/signed-out`. `stillSignedInAt`: label of the provider that may still know the browser, if any. */
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
            You may still be signed in at <bdi>${stillSignedInAt}</bdi>. On a computer that others use, sign out there too, or close
            the browser.
          </p>
        `,
      linkButton(site.signIn, 'Sign in again'),
    ],
  });
}

/**
 * Renders `<path>/signed-out` of a named host that knew no live session of the browser, which may have one at the sign-in's host.
 * `host`: the name of that; `url`: its page that signs out.
 */
export function signedOutHerePage(
  site: Site,
  { host, url }: { readonly host: string; readonly url: string },
): string {
  return renderPage(site, {
    heading: 'You are signed out here',
    content: [
      html`<p>No session was open at this host. You may still be signed in at <bdi>${host}</bdi>.</p>`,
      linkButton(url, ['Sign out at ', html`<bdi>${host}</bdi>`]),
      linkButton(site.signIn, 'Sign in again', 'secondary'),
    ],
  });
}

/**
 * Renders the page of a sign-out that continues at the provider: the response's `Refresh` header leads to `url`, as does a link,
 * for browsers that ignore the header. `provider`: its label.
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
      linkButton(url, ['Sign out at ', html`<bdi>${provider}</bdi>`]),
    ],
  });
}
