import { linkButton, submitButton } from '../components/button.ts';
import { renderPage } from '../components/layout.ts';
import { html } from '../html.ts';
import type { Site } from '../site.ts';

/** The first page of the area, for someone who is signed in. */
export interface Home {
  readonly username: string;
  readonly displayName: string | null;
  /** True if there is a password to change. */
  readonly hasPassword: boolean;
  /** Where the application begins, a path; null: people begin on this page. */
  readonly application: string | null;
  /** Address of the console; null: none, or not for this user. */
  readonly console: string | null;
}

/** `<path>/`, signed in. Without a session, the sign-in page is shown instead. */
export function homePage(site: Site, home: Home): string {
  const { username, displayName, hasPassword, application, console } = home;
  return renderPage(site, {
    heading: 'You are signed in',
    scripts: ['fresh'],
    content: [
      html`
        <p class="person">
          <strong>${displayName ?? username}</strong>
          ${displayName !== null && html`<span class="hint">${username}</span>`}
        </p>
      `,
      html`
        <div class="actions">
          ${application !== null && linkButton(application, ['Go to ', site.title])}
          ${console !== null && linkButton(console, 'Open the console', application === null ? 'primary' : 'secondary')}
          ${hasPassword && linkButton(`${site.path}/password`, 'Change password', 'secondary')}
          <form method="post" action=${`${site.path}/sign-out`}>${submitButton('Sign out', 'secondary')}</form>
        </div>
      `,
    ],
  });
}
