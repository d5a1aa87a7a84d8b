import { linkButton, submitButton } from '../components/button.ts';
import { field } from '../components/field.ts';
import { renderPage } from '../components/layout.ts';
import { notice } from '../components/notice.ts';
import { html } from '../html.ts';
import type { Site } from '../site.ts';
import { commonPartsOf, newPasswordField } from './form-fields.ts';
import { type FormWords, type Problem, problemTexts } from './problem.ts';

/** State of the page for changing one's own password. */
export interface OwnPassword {
  /** Name of the account, for password managers. */
  readonly username: string;
  readonly minPasswordLength: number;
  readonly problem: Problem | null;
}

const words: FormWords = {
  labels: { current_password: 'Current password', new_password: 'New password' },
  atField: { wrong_password: ['current_password', 'This is not your current password.'] },
  above: {
    managed: () => 'This account is kept in the configuration. Its password can only be changed there.',
  },
};

/** Renders `<path>/password`, with texts for the refusals of `PUT /api/self/password`. */
export function passwordPage(site: Site, { username, minPasswordLength, problem }: OwnPassword): string {
  const { notice: text, fields } = problemTexts(problem, words);
  const partsOf = commonPartsOf(words, fields, () => true);
  return renderPage(site, {
    heading: 'Change your password',
    wrong: problem !== null,
    scripts: ['password', 'fresh'],
    address: problem === null ? null : `${site.path}/password`,
    content: [
      text !== null && notice('problem', text),
      html`
        <form method="post" action=${`${site.path}/password`}>
          <input type="text" autocomplete="username" value=${username} hidden />
          ${field({ ...partsOf('current_password'), type: 'password', autocomplete: 'current-password' })}
          ${newPasswordField({ ...partsOf('new_password'), minLength: minPasswordLength })}
          <div class="actions">
            ${submitButton('Change password')} ${linkButton(`${site.path}/`, 'Cancel', 'secondary')}
          </div>
        </form>
      `,
    ],
  });
}

/** Renders the page after a successful `<path>/password`. */
export function passwordChangedPage(site: Site): string {
  return renderPage(site, {
    heading: 'Password changed',
    address: `${site.path}/password`,
    content: [
      notice('success', 'Use your new password from now on. You are still signed in here, and nowhere else.'),
      linkButton(`${site.path}/`, 'Continue'),
    ],
  });
}
