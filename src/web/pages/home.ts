import { linkButton, submitButton } from '../components/button.ts';
import { renderPage } from '../components/layout.ts';
import { html } from '../html.ts';
import type { Site } from '../site.ts';

/** State of the area's first page for a signed-in user. */
export interface Home {
  readonly username: string;
  readonly displayName: string | null;
  readonly hasPassword: boolean;
  /** Path of the application's start; null: this page is the start. */
  readonly application: string | null;
  /** Address of the console; null: there is none for this user. */
  readonly console: string | null;
}

/** Renders `<path>/` for a signed-in user. Without a session, the sign-in page is shown instead. */
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
