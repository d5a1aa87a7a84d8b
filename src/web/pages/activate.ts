import { accountName } from '../components/account-name.ts';
import { linkButton, submitButton } from '../components/button.ts';
import { field } from '../components/field.ts';
import { renderPage } from '../components/layout.ts';
import { notice } from '../components/notice.ts';
import { html } from '../html.ts';
import type { Site } from '../site.ts';
import { commonPartsOf, newPasswordField, tokenField } from './form-fields.ts';
import { type FormWords, type Problem, problemTexts } from './problem.ts';

/** State of the page that creates the first administrator. */
export interface Activate {
  /** The sent token and user name; empty at first. */
  readonly token?: string;
  readonly username?: string;
  readonly minPasswordLength: number;
  readonly problem: Problem | null;
}

const words: FormWords = {
  labels: { token: 'Activation token', username: 'User name', password: 'Password' },
  atField: {
    invalid_bootstrap_token: ['token', 'This is not the activation token. Check that you copied all of it.'],
    conflict: ['username', 'This user name is already taken.'],
  },
  above: {
    too_many_attempts: (when) => `There were too many attempts with a wrong token. Try again ${when}.`,
  },
};

/** Renders `<path>/activate`, with texts for the refusals of `POST /api/bootstrap/activate`. */
export function activatePage(site: Site, activate: Activate): string {
  if (activate.problem?.code === 'already_activated') return alreadyActivated(site);
  const { token = '', username = '', minPasswordLength, problem } = activate;
  const { notice: text, fields } = problemTexts(problem, words);
  const typed: Record<string, string> = { token, username };
  const partsOf = commonPartsOf(words, fields, (name) => (typed[name] ?? '') === '');
  return renderPage(site, {
    heading: 'Set up the first administrator',
    wrong: problem !== null,
    scripts: ['token', 'password'],
    content: [
      text !== null && notice('problem', text),
      html`
        <form method="post" action=${`${site.path}/activate`}>
          ${tokenField({
            ...partsOf('token'),
            hint: 'Postern printed it when it first started, or it was set in the configuration.',
            sent: token,
          })}
          ${field({ ...partsOf('username'), type: 'text', autocomplete: 'username', value: username })}
          ${newPasswordField({ ...partsOf('password'), minLength: minPasswordLength })}
          ${submitButton('Create administrator')}
        </form>
      `,
    ],
  });
}

/** Renders the page after a successful `<path>/activate`, if people can't sign in with a password here. */
export function activatedPage(site: Site, { username }: { readonly username: string }): string {
  return renderPage(site, {
    heading: 'Administrator created',
    address: `${site.path}/sign-in`,
    content: [
      notice('success', ['The account ', accountName(username), ' is ready. It may do everything here.']),
      linkButton(`${site.path}/sign-in`, 'Sign in'),
    ],
  });
}

function alreadyActivated(site: Site): string {
  return renderPage(site, {
    heading: 'Already set up',
    wrong: true,
    scripts: ['token'],
    content: [
      html`
        <p>
          There is an administrator here already, or has been one, so this page can't make another. If you have an account,
          sign in. If not, ask your administrator for an invitation.
        </p>
      `,
      html`
        <p class="hint">
          No administrator yet? The operator of this server can reopen activation: <code>postern bootstrap-token <span class="whole">--reset</span></code>
        </p>
      `,
      linkButton(`${site.path}/sign-in`, 'Sign in'),
    ],
  });
}
