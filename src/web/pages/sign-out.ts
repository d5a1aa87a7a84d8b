import { submitButton } from '../components/button.ts';
import { renderPage } from '../components/layout.ts';
import { html } from '../html.ts';
import type { Site } from '../site.ts';

/** Renders `<path>/sign-out` for a link or bookmark: signing out takes a form. */
export function signOutPage(site: Site): string {
  return renderPage(site, {
    heading: 'Sign out?',
    content: [
      html`<p>This ends your session in this browser.</p>`,
      html`<form method="post" action=${`${site.path}/sign-out`}>${submitButton('Sign out')}</form>`,
    ],
  });
}
